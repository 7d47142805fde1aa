"""The page of all components: readable and complete in every theme, width, language and font size."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from playwright.sync_api import expect

from tests import make
from tests.browser.test_looks import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/admin/design/"
WRAPPED = """() => [...document.querySelectorAll("button, a.button, .badge, .chip > summary")]
  .filter((one) => one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().height > (one.matches(".badge") ? 28 : 46))
  .map((one) => one.textContent.trim())"""
"""Wrapped labels: a button with one line is 34 pixels high, a badge 25."""
SMALL = """() => [...document.querySelectorAll("main :is(button, a.button, a.badge, summary, .tabs a)")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 80)])
  .filter(([box]) => box.width && (box.width < 24 || box.height < 24))
  .map(([, html]) => html)"""
"""Targets smaller than 24 by 24 pixels."""


@pytest.fixture(autouse=True)
def debug(settings: LazySettings) -> None:
    settings.DEBUG = True


def width_of(page: Any) -> int:
    width: int = page.evaluate("() => document.documentElement.scrollWidth")
    return width


@pytest.mark.parametrize("dark", [False, True])
def test_components_are_readable_in_both_themes(open_page: Any, dark: bool) -> None:
    page = open_page("admin", dark=dark)
    page.goto(PAGE)

    assert serious(page) == []
    for name in ("Dialog", "Drawer"):
        page.get_by_role("button", name=name, exact=True).click()
        assert serious(page) == []
        page.keyboard.press("Escape")
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_label_wraps_on_a_laptop(open_page: Any, language: str) -> None:
    page = open_page("admin", width=1280)
    page.context.add_cookies(
        [{"name": "django_language", "value": language, "url": page.url.split("/admin/")[0]}]
    )

    for address in (PAGE, "/admin/content/post/", "/admin/"):
        page.goto(address)
        assert page.get_attribute("html", "lang") == language
        assert page.evaluate(WRAPPED) == [], address


def test_nothing_is_wider_than_a_phone_or_than_half_a_window(open_page: Any) -> None:
    page = open_page("admin", width=390)
    page.goto(PAGE)
    assert width_of(page) == 390

    # The size of a window of 1280 at 200 % zoom.
    page.set_viewport_size({"width": 640, "height": 450})
    assert width_of(page) == 640


def test_the_focus_is_seen_also_in_forced_colours(open_page: Any) -> None:
    page = open_page("admin")
    page.emulate_media(forced_colors="active")
    page.goto(PAGE)
    outline = "() => getComputedStyle(document.activeElement).outlineStyle"

    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(outline) != "none"
    current = page.locator(".nav a[aria-current]")
    page.goto("/admin/content/post/")
    assert current.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_the_navigation_is_a_drawer_on_a_phone_and_collapses_on_a_desk(open_page: Any) -> None:
    page = open_page("editor", width=390)
    navigation = page.locator("#admin-navigation")
    expect(navigation).to_be_hidden()
    page.locator(".bar-burger").click()
    navigation.get_by_role("link", name="Media").click()
    page.wait_for_url("**/admin/media/asset/")
    expect(navigation).to_be_hidden()

    page.set_viewport_size({"width": 1280, "height": 900})
    before = navigation.bounding_box()["width"]
    page.locator("[data-collapse-nav]").click()
    narrow = navigation.bounding_box()["width"]
    page.goto("/admin/content/post/")
    assert narrow < before / 2
    assert navigation.bounding_box()["width"] == narrow
    expect(navigation.get_by_role("link", name="Posts")).to_be_visible()


def test_pages_ask_for_few_files_and_move_nothing_while_they_load(open_page: Any) -> None:
    post = make.post("Tea")
    page = open_page("admin")
    page.add_init_script(
        """window.moved = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for address in ("/admin/", "/admin/content/post/", "/admin/inbox/", "/admin/media/asset/",
                    f"/admin/content/post/{post.pk}/change/"):  # fmt: skip
        asked.clear()
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert len(asked) <= 44, (address, [one.split("/", 3)[-1] for one in asked])
        assert page.evaluate("() => window.moved") < 0.1, address


@pytest.mark.django_db
def test_the_page_is_there_in_development_only(settings: LazySettings) -> None:
    client = Client()
    client.force_login(make.user("admin"))
    assert client.get(PAGE).status_code == 200

    settings.DEBUG = False
    assert client.get(PAGE).status_code == 404
