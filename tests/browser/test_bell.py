"""The bell: its number, its panel, and the page of notifications."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from content.models import Layer
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
