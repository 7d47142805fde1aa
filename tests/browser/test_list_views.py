"""Saved views and the column menu, by mouse, keyboard, on a phone, and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Status
from proofroom.core.models import ListView
from tests import make
from tests.browser.conftest import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
POSTS = "/admin/content/post/"


def headers(page: Any) -> list[str]:
    found: list[str] = page.locator("#result_list thead th").all_inner_texts()
    return [text.strip().rstrip(" ↑↓") for text in found if text.strip()]


def test_a_view_is_saved_edited_and_deleted_with_undo(open_page: Any) -> None:
    make.post("Tea", status=Status.DRAFT)
    make.post("Coffee")
    page = open_page("editor")
    page.goto(f"{POSTS}?status__exact=draft")
    page.get_by_text("Save view").first.click()
    page.get_by_label("View name").fill("Drafts")
    assert violations(page) == []
    page.locator("button[value=save]").click()

    tabs = page.get_by_role("navigation", name="Views")
    tabs.get_by_role("link", name="Drafts").wait_for()
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Clear filters").click()
    expect(tabs.get_by_role("link", name="All")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("link", name="Drafts").click()
    page.locator(".view-menu > summary").click()
    assert violations(page) == []
    page.get_by_role("button", name="Delete view").click()

    page.get_by_role("button", name="Undo").click()
    tabs.get_by_role("link", name="Drafts").wait_for()
    assert ListView.objects.get(name="Drafts").query == "status__exact=draft"


@pytest.mark.parametrize("look", [{}, {"width": 390, "height": 844}, {"dark": True}])
def test_columns_are_chosen_and_moved_by_keyboard(open_page: Any, look: dict[str, Any]) -> None:
    make.post("Coffee")
    page = open_page("editor", **look)
    page.goto(POSTS)
    menu = page.locator("summary", has_text="Columns")
    menu.focus()
    page.keyboard.press("Enter")
    up = page.get_by_role("button", name="Move “Created” up")
    for _step in range(8):
        up.focus()
        page.keyboard.press("Enter")
    page.get_by_label("Created").check()
    page.get_by_label("Language").uncheck()
    assert violations(page) == []
    page.get_by_role("button", name="Apply").click()

    page.wait_for_load_state()
    page.locator(".view-tools details[open]").wait_for(state="detached")
    row = ListView.objects.get(name="")
    assert row.columns[:3] == ["name", "created", "kind"]
    assert "language" not in row.columns
    if not look.get("width"):
        assert headers(page)[:3] == ["Title", "Created", "Type"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_menu_of_a_row_leads_on(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor")
    page.goto(POSTS)
    page.locator(".row-menu > summary").click()
    assert violations(page) == []

    page.get_by_role("link", name="Revisions").click()

    page.wait_for_url(f"**/{post.pk}/revisions/")
