"""The calendar: moving entries by dragging, arrow keys and the form, undo, and a move of somebody else meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Post
from tests.browser.test_looks import barriers, serious_in_any_light
from tests.calendar.scenes import full_month, on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MONTH = "/admin/calendar/?month=2099-01"


def entry(page: Any, title: str, badge: str = "") -> Any:
    return page.locator(".calendar-entry", has_text=title).filter(has_text=badge)


def slot(page: Any, day: str, hour: int | None = None) -> Any:
    within = "" if hour is None else f"[data-hour='{hour}']"
    return page.locator(f"[data-day='{day}']{within}")


def publish_at(post: Post) -> datetime | None:
    return Post.objects.get(pk=post.pk).publish_at


def test_entries_move_by_dragging_by_keys_and_by_the_form(open_page: Any) -> None:
    scene = full_month()
    planned = scene["planned"]
    page = open_page()
    page.context.add_cookies(
        [{"name": "admin_time_zone", "value": "UTC", "url": page.url.split("/admin/")[0]}]
    )
    page.goto(MONTH)
    notice = page.locator("[data-move-notice]")
    assert barriers(page) == []
    assert serious_in_any_light(page) == []

    entry(page, "Planned").drag_to(slot(page, "2099-01-14"))
    expect(slot(page, "2099-01-14")).to_contain_text("Planned")
    expect(notice).to_contain_text("“Planned” moved to 2099-01-14 09:00 (UTC).")
    assert publish_at(planned) == on(14)
    assert serious_in_any_light(page) == []
    notice.get_by_role("button", name="Undo").click()
    expect(slot(page, "2099-01-02")).to_contain_text("Planned")
    expect(notice.get_by_role("button", name="Undo")).to_be_hidden()
    assert publish_at(planned) == on(2)

    # By keys: a day on and a week on, after a way that was cancelled.
    link = page.get_by_role("link", name="Move… “Planned”")
    link.press("ArrowDown")
    link.press("Escape")
    expect(page.locator(".is-target")).to_have_count(0)
    link.press("ArrowRight")
    link.press("ArrowDown")
    expect(page.locator(".is-target")).to_have_attribute("data-day", "2099-01-10")
    expect(page.locator("main > [role=status]")).to_contain_text("Saturday Jan. 10, 2099")
    link.press("Enter")
    expect(slot(page, "2099-01-10")).to_contain_text("Planned")
    expect(link).to_be_focused()
    assert publish_at(planned) == on(10)

    # By the form, which shows what is wrong and stays open.
    link.press("Enter")
    dialog = page.get_by_role("dialog", name="Move “Planned”")
    field = dialog.get_by_label("New date and time (UTC)")
    expect(field).to_be_focused()
    assert barriers(page) == []
    field.fill("2001-01-01T09:00")
    field.evaluate("field => field.removeAttribute('min')")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose a time in the future.")
    field.fill("2099-01-12T10:30")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(slot(page, "2099-01-12")).to_contain_text("Planned")
    expect(dialog).to_be_hidden()

    # A week moves by hours, and keeps the minutes.
    page.get_by_role("link", name="Week", exact=True).click()
    page.goto("/admin/calendar/?week=2099-01-12")
    assert barriers(page) == []
    assert serious_in_any_light(page) == []
    entry(page, "Planned").drag_to(slot(page, "2099-01-15", 16))
    expect(slot(page, "2099-01-15", 16)).to_contain_text("Planned")
    assert publish_at(planned) == on(15, 16).replace(minute=30)
    link.press("ArrowUp")
    link.press("Enter")
    expect(slot(page, "2099-01-15", 15)).to_contain_text("Planned")

    # Somebody else moves it while this page is open.
    Post.objects.filter(pk=planned.pk).update(publish_at=on(13))
    entry(page, "Planned").drag_to(slot(page, "2099-01-16", 16))
    expect(notice).to_contain_text("Somebody has moved this to 2099-01-13 09:00 (UTC)")
    expect(slot(page, "2099-01-13", 9)).to_contain_text("Planned")
