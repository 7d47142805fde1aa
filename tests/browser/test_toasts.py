"""Toasts: announced, dismissed, undone; they stay while the pointer is over them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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


def test_the_time_of_a_toast_stands_still_while_somebody_points_at_it(open_page: Any) -> None:
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
