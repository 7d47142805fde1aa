"""The list of keyboard shortcuts, and shortcuts of every page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_sheet_names_the_keys_and_letters_lead_from_page_to_page(open_page: Any) -> None:
    make.post()
    page = open_page("editor")
    page.locator("[data-show-keys]").wait_for()

    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("go to the inbox")).to_be_visible()
    expect(sheet.get_by_role("heading", name="On this page")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/admin/content/post/")

    page.keyboard.press("/")
    page.keyboard.type("?gh")
    expect(page.locator("#searchbar")).to_have_value("?gh")
    expect(sheet).to_be_hidden()
    page.locator("#searchbar").evaluate("box => box.blur()")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/admin/")
