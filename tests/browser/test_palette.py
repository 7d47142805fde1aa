"""The command palette: opened by key or by the search button, used without a mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_open_it_and_lead_to_what_is_found(open_page: Any) -> None:
    make.post("Kettles compared")
    page = open_page("editor")
    page.locator("[data-open-palette]").wait_for()

    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    box = palette.get_by_role("combobox")
    palette.get_by_role("option", name="Inbox").wait_for()
    box.type("kettl")
    option = palette.get_by_role("option", name="Kettles compared")
    option.wait_for()
    expect(option).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", option.get_attribute("id"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/change/")

    page.locator("[data-open-palette]").click()
    palette.get_by_role("group", name="Recently opened").get_by_text("Kettles compared").wait_for()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_arrows_go_round_and_nothing_found_is_said(open_page: Any) -> None:
    page = open_page("editor")
    page.locator("[data-open-palette]").click()
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("option").first.wait_for()

    page.keyboard.press("ArrowUp")
    expect(palette.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.type("nothing of that name")
    palette.get_by_text("No results").first.wait_for()
    expect(palette.get_by_role("option")).to_have_count(0)


def test_enter_waits_for_what_is_typed(open_page: Any) -> None:
    page = open_page("admin")
    page.locator("[data-open-palette]").click()
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("option", name="Inbox").wait_for()

    page.keyboard.type("Redirects")
    page.keyboard.press("Enter")

    page.wait_for_url("**/seo/redirect/")


def test_enter_opens_nothing_where_the_search_failed(open_page: Any) -> None:
    page = open_page("admin")
    page.locator("[data-open-palette]").click()
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("option", name="Inbox").wait_for()
    page.route("**/*q=Redirects*", lambda route: route.fulfill(status=409, body=""))

    page.keyboard.type("Redirects")
    page.keyboard.press("Enter")

    expect(palette.get_by_role("option")).to_have_count(0)
    assert page.url.endswith("/admin/")
