"""Modules as HTML: safe, accessible, and never fatal for a page."""

from __future__ import annotations

import logging
from html.parser import HTMLParser

import pytest

from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, Prop, modules, props_of
from proofroom_apps.website.rendering import RenderableModule, opens_with_heading, render_modules
from tests.content.customer_app import customer_app
from tests.content.test_definitions import UUID_, paragraph

ATTACK = "\"><script>alert(1)</script><img src=x onerror=alert(1)>' onmouseover='alert(1)"


class Page(HTMLParser):
    """The elements and attributes that a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"img", "br", "meta", "link", "hr", "input", "source"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(1 for found, _ in self.elements if found == tag)

    def first(self, tag: str) -> dict[str, str | None]:
        return next(attributes for found, attributes in self.elements if found == tag)


def module(type_name: str, props: JsonObject | None = None, index: int = 0) -> RenderableModule:
    return RenderableModule(f"id-{index}", type_name, props or {}, index)


PICTURE: dict[str, object] = {
    "url": "/media/a.webp", "alt": "A kettle", "width": 800, "height": 600, "sizes": "", "focal": "",
    "srcset": "/media/a-400.webp 400w, /media/a.webp 800w", "dark_srcset": "",
}  # fmt: skip


def attacked(props: type[ModuleProps]) -> JsonObject:
    """Return props that no interface would accept: the attack in every field."""
    return {prop.name: _attacked(prop) for prop in props_of(props).values()}


def _attacked(prop: Prop) -> Json:
    if prop.nested is not None:
        return [attacked(prop.nested)] if prop.kind == "repeater" else attacked(prop.nested)
    by_kind: dict[str, Json] = {
        "richtext": paragraph(ATTACK),
        "link": "java\tscript:alert(1)",
        "url": "javascript:alert(1)",
        "media": UUID_,
        "boolean": True,
        "number": 1,
    }
    return by_kind.get(prop.kind, ATTACK)


@pytest.mark.parametrize("type_name", modules.names())
def test_no_prop_becomes_markup(type_name, caplog):
    media = {UUID_: {**PICTURE, "url": "javascript:alert(1)", "alt": ATTACK}}

    html = render_modules(
        [module(type_name, attacked(modules.all()[type_name].Props))], {"media": media}
    )

    page = Page(html)
    assert caplog.records == []
    # Modules that need other props, such as a post or a safe URL, show nothing.
    assert "alert(1)" in html or not html or type_name == "separator"
    assert page.count("script") == 0
    assert page.count("img") == 0
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert "script:" not in (attributes.get("href") or "")
    assert page.open == []


@pytest.mark.parametrize("type_name", modules.names())
def test_every_module_renders_with_its_defaults_and_with_nothing(type_name):
    for props in (modules.all()[type_name].default_props(), {}):
        Page(render_modules([module(type_name, props)], {}))


def test_the_opening_hero_holds_the_only_h1():
    items = [module("hero", {"title": "First"}, 0), module("hero", {"title": "Second"}, 1)]

    page = Page(html := render_modules(items, {"page_title": "Post"}))

    assert opens_with_heading(items)
    assert page.count("h1") == 1
    assert "<h1>First</h1>" in html
    assert "<h2>Second</h2>" in html


def test_an_untitled_opening_hero_shows_the_title_of_the_post():
    html = render_modules([module("hero")], {"page_title": "Slow & good"})

    assert "<h1>Slow &amp; good</h1>" in html


def test_a_page_that_opens_with_prose_keeps_its_own_heading():
    items = [module("prose", {"content": paragraph("x")}), module("hero", {"title": "T"}, 1)]

    html = render_modules(items, {})

    assert not opens_with_heading(items)
    assert not opens_with_heading([])
    assert "<h1" not in html


def test_images_come_from_the_context():
    media = {UUID_: PICTURE}

    html = render_modules([module("hero", {"title": "T", "imageId": UUID_})], {"media": media})

    image = Page(html).first("img")
    assert image["alt"] == "A kettle"
    assert (image["width"], image["height"]) == ("800", "600")
    assert image["srcset"] == "/media/a-400.webp 400w, /media/a.webp 800w"
    assert image["fetchpriority"] == "high"
    assert "<img" not in render_modules([module("hero", {"imageId": UUID_})], {})


def test_a_button_needs_label_and_link():
    link: JsonObject = {"title": "T", "ctaLabel": "Go", "ctaUrl": "/go"}

    assert Page(render_modules([module("hero", link)], {})).first("a")["href"] == "/go"
    for part in ("ctaLabel", "ctaUrl"):
        assert "<a" not in render_modules([module("hero", {**link, part: ""})], {})


def test_modules_keep_their_order_and_names():
    items = [module("prose", {"content": paragraph(text)}, n) for n, text in enumerate("ab")]

    html = render_modules(items, {})

    assert html.index('data-post-module-id="id-0"') < html.index('data-post-module-id="id-1"')


def test_an_unknown_module_shows_nothing_and_is_logged(caplog):
    with caplog.at_level(logging.WARNING, logger="proofroom_apps.website.rendering"):
        html = render_modules(
            [module("gone"), module("prose", {"content": paragraph("ok")}, 1)], {}
        )

    assert "gone" not in html
    assert "ok" in html
    assert "unknown type 'gone'" in caplog.text


CUSTOMER = {
    "modules/tide.py": """
        from proofroom.definitions import AIGuidance, Module, ModuleProps, Text

        class Tide(Module):
            name = "tide"
            label = "Tide"
            description = "High and low water of the day."
            ai = AIGuidance(layout_roles=("body",))

            class Props(ModuleProps):
                title: str = Text()

            @classmethod
            def template_context(cls, props, context):
                return {"metres": 10 / len(props["title"])}
    """,
    "templates/modules/tide.html": "<p>{{ props.title }}: {{ metres }} m</p>",
}


def test_a_customers_app_adds_a_module_with_one_file_and_its_template(tmp_path, monkeypatch):
    with customer_app(tmp_path, monkeypatch, "tide_app", CUSTOMER):
        html = render_modules([module("tide", {"title": "<High>"[:5]})], {})

    assert "<p>&lt;High: 2.0 m</p>" in html
    assert "tide" not in modules


def test_a_module_that_fails_is_logged_and_left_out(tmp_path, monkeypatch, caplog):
    items = [module("tide", {"title": ""}), module("prose", {"content": paragraph("ok")}, 1)]

    with customer_app(tmp_path, monkeypatch, "tide_app", CUSTOMER):
        html = render_modules(items, {})

    assert "ok" in html
    assert 'data-post-module-id="id-0"' not in html
    assert "module id-0 (tide) failed to render" in caplog.text


def test_headings_in_text_stay_below_the_title_and_have_ids_of_their_own():
    heading: JsonObject = {
        "type": "heading", "attrs": {"level": 1}, "content": [{"type": "text", "text": "Main"}],
    }  # fmt: skip
    prose: JsonObject = {"content": {"type": "doc", "content": [heading]}}

    html = render_modules([module("prose", prose), module("prose", prose, 1)], {})

    assert '<h2 id="main-2">Main</h2>' in html
    assert '<h2 id="main-3">Main</h2>' in html
    assert "h1" not in html
