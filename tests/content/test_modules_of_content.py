"""The output of each module type, and the cases without output."""

from __future__ import annotations

import re

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.definitions import markdown_of, validate_props
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom_apps.website.rendering import render_modules
from tests.content.test_definitions import UUID_, paragraph
from tests.content.test_rendering import PICTURE, Page, module

MEDIA = {UUID_: PICTURE}
IMG = (
    '<img src="/media/a.webp" alt="A kettle" width="800" height="600" '
    'srcset="/media/a-400.webp 400w, /media/a.webp 800w" sizes='
)


def shown(type_name: str, props: JsonObject) -> str:
    """Return the module's HTML without its wrapper and whitespace between elements."""
    html = render_modules([module(type_name, props)], {"media": MEDIA})
    inner = html.partition(">\n")[2].rpartition("\n</div>")[0]
    return re.sub(r">\s+<", "><", inner).strip()


NOTHING: list[tuple[str, JsonObject]] = [
    ("hero-with-media", {"eyebrow": "x", "ctaLabel": "x", "ctaUrl": "/x", "caption": "x"}),
    ("prose-with-media", {"caption": "x", "imageId": "gone", "ctaLabel": "x", "ctaUrl": "/x"}),
    ("blockquote", {"who": "x", "sourceLabel": "x", "imageId": UUID_}),
    ("gallery", {"heading": "x", "intro": "x", "items": [{"imageId": "gone", "caption": "x"}]}),
    ("statistics", {"heading": "x", "items": [{"value": "1"}, {"label": "x"}, "y", None]}),
    ("pricing", {"heading": "x", "footnote": "x", "plans": [{"price": "1"}, {"name": " "}]}),
    ("accordions", {"heading": "x", "items": [{"content": paragraph("x")}]}),
    ("tabbed-features", {"heading": "x", "items": [{"title": "x"}]}),
    ("embed", {"heading": "x", "title": "x", "imageId": UUID_}),
    ("table", {"heading": "x", "caption": "x", "rows": " \n\t\n", "source": "x"}),
    ("logos", {"heading": "x", "items": [{"url": "/x"}, {"imageId": "gone"}]}),
]


@pytest.mark.parametrize(("type_name", "props"), NOTHING, ids=[name for name, _ in NOTHING])
def test_a_module_without_its_content_shows_nothing(type_name, props):
    assert render_modules([module("prose"), module(type_name, props, 1)], {"media": MEDIA}) == ""


def test_a_hero_leads_with_its_picture_and_has_two_buttons():
    props: JsonObject = {
        "eyebrow": "Tour", "title": "Slow", "subtitle": "a\nb", "imageId": UUID_, "caption": "Hills",
        "ctaLabel": "Go", "ctaUrl": "/go", "secondLabel": "More", "secondUrl": "#more",
        "layout": "over",
    }  # fmt: skip

    assert shown("hero-with-media", props) == (
        '<section class="media-hero media-hero-over"><div class="media-hero-text">'
        '<p class="eyebrow">Tour</p><h1>Slow</h1><p class="lead">a<br>b</p><p class="buttons">'
        '<a class="button" href="/go" data-goal="hero-with-media-primary">Go</a>'
        '<a class="button button-quiet" href="#more" data-goal="hero-with-media-secondary">More</a>'
        f'</p></div><figure>{IMG}"(min-width: 72rem) 68rem, 100vw" decoding="async" '
        'fetchpriority="high"><figcaption>Hills</figcaption></figure></section>'
    )
    later = render_modules(
        [module("prose", {"content": paragraph("x")}), module("hero-with-media", props, 1)],
        {"media": MEDIA},
    )
    assert "<h2>Slow</h2>" in later
    assert 'loading="lazy"' in later
    empty = render_modules([module("hero-with-media")], {"page_title": "Post"})
    assert '<section class="media-hero">' in empty
    assert "<h1>Post</h1>" in empty


def test_text_is_shown_beside_its_picture_or_alone():
    props: JsonObject = {
        "heading": "Yard", "content": paragraph("Early."), "imageId": UUID_, "side": "start",
        "size": "third", "caption": "Steam", "ctaLabel": "Go", "ctaUrl": "/go",
    }  # fmt: skip

    assert shown("prose-with-media", props) == (
        '<section class="beside beside-start beside-third" aria-labelledby="heading-id-0">'
        '<div class="beside-text"><h2 id="heading-id-0">Yard</h2><div class="prose"><p>Early.</p>'
        '</div><p><a class="button" href="/go" data-goal="prose-with-media">Go</a></p></div>'
        f'<figure>{IMG}"(min-width: 50rem) 32rem, 100vw" decoding="async" loading="lazy">'
        "<figcaption>Steam</figcaption></figure></section>"
    )
    assert shown("prose-with-media", {"content": paragraph("Early.")}) == (
        '<section class="beside"><div class="beside-text"><div class="prose"><p>Early.</p></div>'
        "</div></section>"
    )
    alone = shown("prose-with-media", {"imageId": UUID_})
    assert "beside-text" not in alone
    assert Page(alone).count("img") == 1


def test_a_quotation_names_who_said_it_and_where():
    props: JsonObject = {
        "quote": "Slow.\nThen fast.", "who": "A guest", "role": "In March", "look": "card",
        "sourceLabel": "The guest book", "sourceUrl": "/book", "imageId": UUID_,
    }  # fmt: skip

    assert shown("blockquote", props) == (
        '<figure class="quotation box"><blockquote cite="/book"><p>Slow.<br>Then fast.</p>'
        f'</blockquote><figcaption>{IMG}"4rem" decoding="async" loading="lazy"><div>'
        "<strong>A guest</strong><span>In March</span>"
        '<cite><a href="/book">The guest book</a></cite></div></figcaption></figure>'
    )
    assert shown("blockquote", {"quote": "Slow."}) == (
        '<figure class="quotation quotation-plain"><blockquote><p>Slow.</p></blockquote></figure>'
    )


def test_pictures_of_a_gallery_lead_to_the_large_file():
    items: list[JsonObject] = [{"imageId": UUID_, "caption": "Steam"}, {"imageId": "gone"}]

    assert shown("gallery", {"layout": "strip", "intro": "Look.", "items": items}) == (
        '<section class="gallery gallery-strip"><p class="lead">Look.</p><ul><li><figure>'
        f'<a href="/media/a.webp">{IMG}"(min-width: 60rem) 22rem, (min-width: 36rem) 50vw, 100vw" '
        'decoding="async" loading="lazy"><span class="visually-hidden">View full-size image'
        "</span></a><figcaption>Steam</figcaption></figure></li></ul></section>"
    )


def test_numbers_are_a_list_of_terms():
    figures: JsonObject = {"value": "98 %", "label": "came back", "note": "in 2026"}

    assert shown("statistics", {"heading": "A year", "items": [figures]}) == (
        '<section class="figures" aria-labelledby="heading-id-0">'
        '<h2 id="heading-id-0">A year</h2><dl><div><dt>came back</dt>'
        '<dd class="figure">98 %</dd><dd>in 2026</dd></div></dl></section>'
    )


def test_a_plan_says_its_price_and_its_button_names_it():
    plan: JsonObject = {
        "name": "Middle", "price": "58 €", "period": "a month", "description": "For ten.",
        "features": "Beans\n\n A grinder \n", "highlighted": True, "badge": "Most chosen",
        "ctaLabel": "Choose", "ctaUrl": "/order",
    }  # fmt: skip

    html = shown("pricing", {"heading": "Coffee", "plans": [plan], "footnote": "With tax."})

    assert html.partition('<ul class="plans">')[2] == (
        '<li class="plan box plan-highlighted"><h3>Middle <span class="badge">Most chosen</span></h3>'
        '<p class="price"><strong>58 €</strong> a month</p><p>For ten.</p>'
        "<ul><li>Beans</li><li>A grinder</li></ul>"
        '<p><a class="button" href="/order" data-goal="pricing">'
        'Choose<span class="visually-hidden"> – Middle</span></a>'
        '</p></li></ul><p class="footnote">With tax.</p></section>'
    )
    plain = shown("pricing", {"plans": [{**plan, "highlighted": False}]})
    assert "<h2>Middle</h2>" in plain
    assert "Most chosen" not in plain


def test_sections_open_many_at_a_time_or_one():
    items: list[JsonObject] = [
        {"title": "Rain", "icon": "leaf", "content": paragraph("Coffee."), "open": True},
        {"title": "Sun", "open": "yes"},
    ]

    one = shown("accordions", {"heading": "Rides", "atATime": "one", "items": items})

    assert one.partition("</h2>")[2] == (
        '<details class="box" open name="sections-id-0"><summary><svg class="icon" aria-hidden="true" '
        'focusable="false"><use href="/static/cms/icons.svg#leaf"></use></svg><h3>Rain</h3></summary>'
        '<div class="prose"><p>Coffee.</p></div></details>'
        '<details class="box" name="sections-id-0"><summary><h3>Sun</h3></summary>'
        '<div class="prose"></div></details></section>'
    )
    assert "name=" not in shown("accordions", {"items": items})


def test_tabs_are_a_group_of_radio_buttons_each_with_its_panel():
    tab: JsonObject = {
        "label": "Garden", "title": "Beds", "content": paragraph("Many."), "imageId": UUID_,
        "ctaLabel": "Go", "ctaUrl": "/go",
    }  # fmt: skip

    html = shown("tabbed-features", {"heading": "Trades", "items": [tab, {"label": "Shop"}]})

    assert html.partition("</h2>")[2] == (
        '<div class="tabs" role="radiogroup" aria-labelledby="heading-id-0">'
        '<input type="radio" name="tabs-id-0" id="tab-id-0-1" autocomplete="off" checked>'
        '<label for="tab-id-0-1">Garden</label><div class="tab-panel box tab-with-picture"><div>'
        '<h3>Beds</h3><div class="prose"><p>Many.</p></div><p>'
        '<a class="button" href="/go" data-goal="tabbed-features">Go'
        '<span class="visually-hidden"> – Garden</span></a></p></div>'
        f'{IMG}"(min-width: 50rem) 32rem, 100vw" decoding="async" loading="lazy"></div>'
        '<input type="radio" name="tabs-id-0" id="tab-id-0-2" autocomplete="off">'
        '<label for="tab-id-0-2">Shop</label><div class="tab-panel box"><div></div></div>'
        "</div></section>"
    )
    assert 'aria-label="Views"' in shown("tabbed-features", {"items": [tab]})


@pytest.mark.parametrize(
    ("props", "html"),
    [
        ({}, '<hr class="separator">'),
        ({"look": "ornament", "size": "large"}, '<hr class="separator separator-ornament separator-large">'),
        ({"look": "space", "size": "small"}, '<div class="separator separator-space separator-small"></div>'),
        ({"look": "x", "size": '"><b>'}, '<hr class="separator">'),
    ],
    ids=["line", "ornament", "space", "unknown"],
)  # fmt: skip
def test_a_separator_is_a_break_or_space(props, html):
    assert shown("separator", props) == html
    assert markdown_of("separator", props) == ("" if props.get("look") == "space" else "___\n")


def test_a_table_has_headers_a_caption_and_a_box_that_the_keyboard_can_scroll():
    props: JsonObject = {
        "caption": "A litre", "rows": "| Method | Coffee |\nFilter\t60 g\tslow\n\\|x | 5",
        "headerColumn": True, "source": "Notes.",
    }  # fmt: skip

    assert shown("table", {**props, "headerRow": True}) == (
        '<section class="data"><div class="table-scroll" role="region" tabindex="0" '
        'aria-labelledby="caption-id-0"><table><caption id="caption-id-0">A litre</caption>'
        '<thead><tr><th scope="col">Method</th><th scope="col" class="align-right">Coffee</th>'
        '<td></td></tr></thead><tbody><tr><th scope="row">Filter</th>'
        '<td class="align-right">60 g</td><td>slow</td></tr><tr><th scope="row">|x</th>'
        '<td class="align-right">5</td><td></td></tr></tbody></table></div>'
        '<p class="footnote">Notes.</p></section>'
    )
    assert markdown_of("table", props) == (
        "A litre\n\n| Method | Coffee |  |\n| --- | --- | --- |\n| Filter | 60 g | slow |\n"
        "| \\\\|x | 5 |  |\n\nNotes.\n"
    )
    plain = shown("table", {"rows": "\t2025\na\t1", "headerRow": False})
    assert 'aria-label="Table"' in plain
    assert "<thead" not in plain
    assert '<tr><td></td><td class="align-right">2025</td></tr>' in plain


def test_a_table_has_bounds():
    with pytest.raises(RuleViolation) as caught:
        validate_props("table", {"rows": "a|b\n" * 300 + "c"})
    assert caught.value.details == {"props.rows": ["At most 300 rows fit."]}

    wide = shown("table", {"rows": "|".join("x" * 40) + "\ny", "headerRow": False})

    assert Page(wide).count("td") == 60
    assert "<td>x x x x x x x x x x x</td>" in wide


def test_logos_are_called_by_their_names():
    items: list[JsonObject] = [
        {"name": "Mill", "imageId": UUID_, "url": "/mill"},
        {"imageId": UUID_},
        {"name": "Bakery", "url": "https://bakery.example"},
        {"name": "School", "url": "javascript:alert(1)"},
    ]
    named = IMG.replace("A kettle", "Mill") + '"10rem" decoding="async" loading="lazy">'

    assert shown("logos", {"look": "muted", "items": items}) == (
        f'<section class="logos logos-muted"><ul><li><a href="/mill">{named}</a></li>'
        f'<li>{IMG}"10rem" decoding="async" loading="lazy"></li>'
        '<li><a href="https://bakery.example">Bakery</a></li><li><span>School</span></li></ul></section>'
    )


def test_headings_of_modules_never_skip_a_level():
    lists = {"plans": [{"name": "N"}], "items": [{"title": "T", "label": "L"}]}
    types = ("pricing", "accordions", "tabbed-features", "features-list")

    for heading in ("", "Above"):
        html = render_modules(
            [module(name, {"heading": heading, **lists}, at) for at, name in enumerate(types)], {}
        )
        levels = [int(level) for level in re.findall(r"<h(\d)", html)]
        assert levels == ([2, 3] * 4 if heading else [2] * 4)


def test_rich_text_inside_modules_gives_every_heading_an_id_of_its_own():
    text = from_markdown("## Same")
    items = [
        module("prose-with-media", {"content": text}, 0),
        module("accordions", {"items": [{"title": "x", "content": text}] * 2}, 1),
        module("tabbed-features", {"heading": "h", "items": [{"label": "x", "content": text}]}, 2),
    ]

    ids = re.findall(r' id="([^"]*)"', render_modules(items, {}))

    assert [id_ for id_ in ids if id_.startswith("same")] == ["same", "same-2", "same-3", "same-4"]
    assert len(ids) == len(set(ids))
