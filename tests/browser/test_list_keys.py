"""Keyboard shortcuts of lists and of New, filter chips within the window, and a post's actions in the palette."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = "document.activeElement.closest('tr')?.querySelector('th a')?.textContent.trim() ?? ''"


def test_letters_and_arrows_go_through_a_list(open_page: Any) -> None:
    for title in ("Milk", "Tea", "Coffee"):
        make.post(title)
    page = open_page("admin")
    page.goto("/admin/content/post/")
    page.locator("[data-show-keys]").wait_for()

    page.keyboard.press("j")
    assert "Coffee" in page.evaluate(FOCUSED)
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    assert "Milk" in page.evaluate(FOCUSED)
    page.keyboard.press("k")
    page.keyboard.press("x")
    expect(page.locator("[data-selected]")).to_have_text("1 selected", use_inner_text=True)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys").get_by_text("select the row")).to_be_visible()
    page.keyboard.press("Escape")
    page.evaluate("document.documentElement.dataset.letterKeys = 'off'")
    page.keyboard.press("x")
    expect(page.locator("[data-selected]")).to_have_text("1 selected", use_inner_text=True)
    page.locator("#result_list tbody th a").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/change/")


def test_c_asks_what_is_new_but_not_while_one_types(open_page: Any) -> None:
    make.post()
    page = open_page("editor")
    page.goto("/admin/content/post/")
    page.locator("[data-show-keys]").wait_for()

    page.locator("#searchbar").press("c")
    expect(page.get_by_role("link", name="New file")).to_be_hidden()
    page.locator("#searchbar").evaluate("box => box.blur()")
    page.keyboard.press("c")
    page.get_by_role("link", name="New file").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    page.wait_for_url("**/media/asset/add/")


@pytest.mark.parametrize("width", [768, 1280])
def test_menus_of_chips_stay_in_the_window(open_page: Any, width: int) -> None:
    make.post()
    page = open_page("editor", width=width)
    page.goto("/admin/content/post/")
    page.locator("[data-show-keys]").wait_for()

    chips = page.locator("details.chip").all()
    assert len(chips) > 3
    for chip in chips:
        chip.locator("summary").click()
        place = chip.locator(".chip-choices").bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_palette_presses_the_buttons_of_the_open_post(open_page: Any) -> None:
    post = make.post()
    page = open_page("editor")
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.locator("[data-show-keys]").wait_for()

    page.locator("[data-open-palette]").click()
    palette = page.get_by_role("dialog", name="Search and commands")
    palette.get_by_role("option", name="Unpublish").wait_for()
    labels = palette.get_by_role("option").all_inner_texts()
    assert [labels.count(label) for label in ("Save changes", "Submit for review")] == [0, 1]
    palette.get_by_role("combobox").fill("unpublish")
    palette.get_by_role("option", name="Unpublish").click()

    page.locator(".toast", has_text="Back to draft.").wait_for()
    post.refresh_from_db()
    assert post.status == "draft"
