"""The command palette: opened by key or by the search button, used without a mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer, Post
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


def test_the_bell_counts_shows_and_leads(open_page: Any) -> None:
    make.user("admin")
    post = make.post("Coffee")
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    page = open_page("admin")
    page.get_by_role("button", name="1 new notification").wait_for()
    bell = page.locator("[data-bell]")

    bell.click()
    panel = page.get_by_role("dialog", name="Notifications")
    panel.get_by_text("Changes to “Coffee” are waiting in Review").wait_for()
    expect(bell).to_have_attribute("aria-expanded", "true")
    page.locator("[data-bell-count]").wait_for(state="hidden")
    expect(page.get_by_role("button", name="Notifications", exact=True)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    bell.press("Enter")
    panel.get_by_role("button").first.click()

    page.wait_for_url(f"**/{post.pk}/review/**")
    page.goto("/admin/notifications/")
    expect(page.locator(".notification-list li")).to_have_count(1)
    expect(page.locator(".notification-list .is-unread")).to_have_count(0)


def _delete(page: Any, post: Post) -> None:
    page.goto(f"/admin/content/post/{post.pk}/delete/")
    page.locator("main form button.danger").click()


def test_a_toast_is_read_out_and_takes_back_what_happened(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor")

    _delete(page, post)
    toast = page.locator(".toast")
    toast.get_by_text("was moved to the trash.").wait_for()
    page.locator("main [role=status]", has_text="was moved to the trash.").wait_for(
        state="attached"
    )
    toast.get_by_role("button", name="Undo").click()

    page.get_by_text("“Coffee” was restored.").first.wait_for()
    assert Post.objects.get(pk=post.pk).deleted_at is None


def test_a_toast_is_dismissed_by_its_button_and_by_escape(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor")

    _delete(page, post)
    page.locator(".toast").get_by_role("button", name="Dismiss").click()
    expect(page.locator(".toast")).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "content-start"

    page.goto("/admin/content/post/trash/")
    page.get_by_role("button", name="Restore Coffee").click()
    page.locator(".toast").get_by_role("button", name="Undo").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".toast")).to_have_count(0)


def test_a_toast_stays_while_the_pointer_is_over_it(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor")
    page.clock.install()

    _delete(page, post)
    toast = page.locator(".toast")
    toast.get_by_role("button", name="Dismiss").wait_for()
    toast.hover()
    page.clock.run_for(120_000)
    expect(toast).to_be_visible()
    page.mouse.move(5, 5)
    page.clock.run_for(10_000)
    expect(toast).to_be_visible()
    page.clock.run_for(60_000)
    expect(toast).to_have_count(0)


def test_without_scripts_messages_stand_above_the_page(open_page: Any) -> None:
    post = make.post("Coffee")
    page = open_page("editor", scripts=False)

    _delete(page, post)

    assert page.locator(".toasts").evaluate("box => getComputedStyle(box).position") == "static"
    expect(page.get_by_role("button", name="Dismiss")).to_be_hidden()
