"""The heatmap in a browser: clicks are drawn at their positions, also after later changes of the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from analytics.models import AnalyticsEvent
from content.document.document import PostDocument
from content.layers import approve, digest_of
from content.models import Layer, Post, Revision
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.analytics.heat_cells import cell
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import serious_in_any_light
from tests.browser.test_previews import _HIDE, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

_COLOURED = """(canvas) => {
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = { left: width, right: -1, top: height, bottom: -1 };
  for (let place = 3; place < data.length; place += 4) {
    if (!data[place]) continue;
    const x = ((place - 3) / 4) % width, y = Math.floor((place - 3) / 4 / width);
    found.left = Math.min(found.left, x); found.right = Math.max(found.right, x);
    found.top = Math.min(found.top, y); found.bottom = Math.max(found.bottom, y);
  }
  if (found.right < 0) return null;
  const box = canvas.getBoundingClientRect(), across = box.width / width, down = box.height / height;
  return { left: box.x + found.left * across, right: box.x + (found.right + 1) * across,
           top: box.y + found.top * down, bottom: box.y + (found.bottom + 1) * down };
}"""
"""The bounding box of all colored pixels, in screen coordinates."""


def with_button() -> Post:
    post = make.post(markdown="Grind the beans.\n\n" * 12)

    def add(document: PostDocument) -> PostDocument:
        props = {"title": "More", "ctaLabel": "Read on", "ctaUrl": "#main"}
        return document_edits.add_module(document, type="callout", props=props)[0]

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=add)
    return Post.objects.get(pk=post.pk)


def longer(document: PostDocument) -> PostDocument:
    prose = next(module.id for module in document.modules if module.type == "prose")
    return document_edits.update_module(
        document, prose, content_markdown="Pour the water.\n\n" * 40
    )


def approved(post: Post, edit: Any) -> Revision:
    make.staged(post, edit=edit, layer=Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    return approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)[1]


def open_heatmap(page: Any, post: Post, query: str = "", stages: int = 1) -> None:
    page.goto(f"/admin/analytics/heatmap/{post.pk}/{query}")
    for place in range(stages):
        page.locator("[data-state=ready]").nth(place).wait_for()


def coloured(page: Any, stage: int = 0) -> dict[str, float] | None:
    found: dict[str, float] | None = page.locator("canvas").nth(stage).evaluate(_COLOURED)
    return found


def middle(box: dict[str, float]) -> tuple[float, float]:
    return (box["left"] + box["right"]) / 2, (box["top"] + box["bottom"]) / 2


def is_on_the_button(page: Any, frame: str = "heat-live", stage: int = 0) -> bool:
    """Return True if all colored pixels are around the center of the button."""
    button = page.frame_locator(f"iframe[name={frame}]").get_by_role("link", name="Read on")
    box, found = button.bounding_box(), coloured(page, stage)
    if found is None:
        return False
    x, y = middle(found)
    return bool(
        abs(x - box["x"] - box["width"] / 2) < 2
        and abs(y - box["y"] - box["height"] / 2) < 2
        and found["right"] - found["left"] < box["width"]
    )


def test_a_click_on_a_button_is_drawn_on_it_at_every_width_and_when_the_page_grew(
    open_page: OpenPage,
) -> None:
    post = with_button()
    for number, width in enumerate((390, 820, 1280), start=1):
        visitor = open_page(None, width=width)
        visitor.goto(post.path)
        visitor.get_by_role("link", name="Read on").click()
        visitor.evaluate(_HIDE)
        until(lambda: AnalyticsEvent.objects.filter(event_type="click").count() >= number)  # noqa: B023
    page = open_page("admin")

    drawn = {}
    for device in ("tablet", "desktop", "mobile"):
        open_heatmap(page, post, f"?viewport={device}")
        drawn[device] = (
            is_on_the_button(page),
            page.locator(".heat-stage h2 .quiet").text_content().rsplit(" · ", 1)[1],
            page.frame_locator("iframe")
            .locator("html")
            .evaluate("() => document.body.clientWidth"),
        )
    before = coloured(page)
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=longer)
    open_heatmap(page, post, "?viewport=mobile")
    after, grew = coloured(page), is_on_the_button(page)
    page.frame_locator("iframe").get_by_role("link", name="Read on").scroll_into_view_if_needed()
    until(lambda: is_on_the_button(page))
    page.get_by_role("link", name="All", exact=True).click()
    page.get_by_text("3 clicks on the page").wait_for()

    assert drawn == {
        "mobile": (True, "1 click on the page", 390),
        "tablet": (True, "1 click on the page", 820),
        "desktop": (True, "1 click on the page", 1280),
    }
    assert grew
    assert before is not None
    assert after is not None
    assert after["top"] > before["top"] + 200


def test_a_module_that_grows_in_the_frame_and_a_very_tall_page_are_drawn_anew(
    open_page: OpenPage,
) -> None:
    post = with_button()
    cell(post, make.module_id(post, "callout"), x=0.5, y=0.5, count=3)
    page = open_page("admin")
    open_heatmap(page, post)
    first = coloured(page)
    assert first is not None

    page.frame_locator("iframe").locator(".module-prose").evaluate(
        "(module) => { module.style.minHeight = '60000px'; }"
    )
    until(lambda: (coloured(page) or first)["top"] > first["top"] + 20_000)

    width, height, shown = page.locator("canvas").evaluate(
        "(one) => [one.width, one.height, parseFloat(one.style.height)]"
    )
    assert height <= 16_384
    assert width * height <= 12_000_000
    assert shown > 60_000
    box = page.frame_locator("iframe").locator(".module-callout").bounding_box()
    found = coloured(page)
    assert found is not None
    assert abs(middle(found)[1] - box["y"] - box["height"] / 2) < 4


def test_before_and_after_an_approval_stand_side_by_side(open_page: OpenPage) -> None:
    post = with_button()
    hero = make.module_id(post, "hero")
    cell(post, hero, x=0.5, y=0.5, count=4)
    revision = approved(post, longer)
    post.refresh_from_db()
    callout = make.module_id(post, "callout")
    cell(post, callout, x=0.5, y=0.5, count=4)
    page = open_page("admin", width=1440)

    open_heatmap(page, post)
    page.get_by_label("Before and after").select_option(str(revision.pk))
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator("[data-state=ready]").nth(1).wait_for()

    places = []
    for stage, (name, module) in enumerate((("before", hero), ("after", callout))):
        box = (
            page.frame_locator(f"iframe[name=heat-{name}]")
            .locator(f"#module-{module}")
            .bounding_box()
        )
        found = coloured(page, stage)
        assert found is not None
        x, y = middle(found)
        places.append((abs(x - box["x"] - box["width"] / 2), abs(y - box["y"] - box["height"] / 2)))
    assert max(max(pair) for pair in places) < 2
    heights = [
        page.frame_locator(f"iframe[name=heat-{name}]").locator("main").bounding_box()["height"]
        for name in ("before", "after")
    ]
    assert heights[1] > heights[0] + 80
    assert page.locator(".heat-modules li").first.text_content().split() == [
        "Hero", "Before", "4", "·", "100", "%", "After", "0", "·", "0", "%",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [1280, 390])
def test_keys_point_at_modules_and_there_is_no_barrier(open_page: OpenPage, width: int) -> None:
    post = with_button()
    approved(post, longer)
    callout = make.module_id(post, "callout")
    cell(post, callout, x=0.5, y=0.5, count=4)
    page = open_page("admin", width=width)
    open_heatmap(page, post)
    frame = page.frame_locator("iframe")
    shown = "() => [...document.querySelectorAll('[data-heat-shown]')].map((one) => one.id)"

    page.get_by_label("Show heatmap").focus()
    page.keyboard.press("Tab")
    pointed = frame.locator("html").evaluate(shown)
    top = frame.locator(f"#module-{callout}").evaluate(
        "(one) => one.getBoundingClientRect().top / innerHeight"
    )
    page.keyboard.press("Tab")
    next_one = frame.locator("html").evaluate(shown)
    page.get_by_label("Show heatmap").uncheck()
    hidden = page.locator("canvas").is_hidden()
    page.get_by_label("Show heatmap").check()
    page.get_by_text("Most clicked spots").click()

    assert pointed == [f"module-{callout}"]
    assert 0 <= top < 1
    assert next_one != pointed
    assert len(next_one) == 1
    assert hidden
    expect(page.locator("canvas")).to_be_visible()
    expect(page.get_by_role("cell", name="50 %, 50 %")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert serious_in_any_light(page) == []


def test_a_frame_that_fails_says_so_and_without_scripts_the_figures_stand(
    open_page: OpenPage,
) -> None:
    post = with_button()
    callout = make.module_id(post, "callout")
    cell(post, callout, x=0.5, y=0.5, count=4)
    page = open_page("admin")
    page.route("**/admin/analytics/frame/**", lambda route: route.fulfill(body="<p>Gone</p>"))
    held: list[Any] = []
    page.route("**/heatmap.js", lambda route: held.append(route))
    plain = open_page("admin", scripts=False)

    page.goto(f"/admin/analytics/heatmap/{post.pk}/", wait_until="commit")
    page.frame_locator("iframe").get_by_text("Gone").wait_for()
    held[0].continue_()  # the script comes last: what it would hear of the frame is past
    page.get_by_text("The page could not be loaded.").wait_for()
    plain.goto(f"/admin/analytics/heatmap/{post.pk}/")
    plain.get_by_role("link", name="Callout").click()

    expect(page.locator("[data-state=failed]")).to_have_count(1)
    frame = plain.frame_locator("iframe").locator(f"#module-{callout}:target")
    frame.wait_for()
    expect(plain.locator("canvas")).to_have_count(0)
    expect(plain.get_by_label("Show heatmap")).to_be_hidden()
    expect(plain.get_by_text("4 clicks on the page")).to_be_visible()
    plain.get_by_text("Most clicked spots").click()
    expect(plain.get_by_role("cell", name="50 %, 50 %")).to_be_visible()
