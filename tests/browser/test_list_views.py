"""Saved views and the column menu, by mouse, keyboard, on a phone, and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import PostTerm, Status
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
    for _step in range(9):
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


@pytest.mark.parametrize("look", [{}, {"width": 390, "height": 844, "dark": True}])
def test_several_posts_are_edited_and_the_edit_is_undone(
    open_page: Any, look: dict[str, Any]
) -> None:
    make.user("translator")
    make.term("Tea")
    posts = [make.post(title) for title in ("Coffee", "Milk")]
    page = open_page("editor", **look)
    page.goto(POSTS)
    for box in page.locator("input.action-select").all():
        box.check()
    page.get_by_role("button", name="Edit 2…").click()

    expect(page.get_by_label("Tea")).to_be_hidden()
    page.get_by_label("What to do with the terms").select_option("add")
    page.get_by_label("Tea").check()
    page.get_by_label("Assignee").select_option("translator")
    page.get_by_label("Comment").fill("Please translate this.")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Edit 2 posts").click()

    report = page.get_by_role("region", name="Report")
    expect(report.get_by_text("Changed")).to_have_count(2)
    assert violations(page) == []
    assert PostTerm.objects.filter(post__in=posts).count() == 2
    page.get_by_role("button", name="Undo").click()
    expect(report.get_by_text("Undone")).to_have_count(2)
    assert not PostTerm.objects.filter(post__in=posts).exists()


def test_the_menu_of_a_row_leads_on(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor")
    page.goto(POSTS)
    page.locator(".row-menu > summary").click()
    assert violations(page) == []

    page.get_by_role("link", name="Revisions").click()

    page.wait_for_url(f"**/{post.pk}/revisions/")


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


def test_a_list_filters_while_one_types(open_page: Any) -> None:
    for title in ("Tea", "Coffee", "Milk"):
        make.post(title)
    page = open_page("editor")
    page.goto("/admin/content/post/")
    page.locator("[data-show-keys]").wait_for()
    box, rows = page.locator("#searchbar"), page.locator("#result_list tbody tr")
    expect(rows).to_have_count(3)

    # The answer to the first word comes after the answer to the second.
    held: list[Any] = []
    page.route("**/post/?q=tea", lambda route: held.append(route))
    box.press_sequentially("tea")
    page.wait_for_url("**/post/?q=tea")
    box.fill("milk")
    page.wait_for_url("**/post/?q=milk")
    expect(rows).to_have_count(1)
    for route in held:
        route.abort()
    expect(rows.locator("th")).to_contain_text(["Milk"])
    expect(box).to_be_focused()
    expect(page.locator("main > p[role=status]")).to_have_text("1 result")

    rows.locator("input.action-select").check()
    expect(page.get_by_role("button", name="Publish 1…", exact=True)).to_be_visible()
    page.go_back()
    expect(rows).to_have_count(3)
    expect(box).to_have_value("")


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
    palette.get_by_role("option", name="Unpublish", exact=True).wait_for()
    labels = palette.get_by_role("option").all_inner_texts()
    assert [labels.count(label) for label in ("Save changes", "Submit for review")] == [0, 1]
    palette.get_by_role("combobox").fill("unpublish")
    palette.get_by_role("option", name="Unpublish", exact=True).click()

    page.locator(".toast", has_text="Back to draft.").wait_for()
    post.refresh_from_db()
    assert post.status == "draft"


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
