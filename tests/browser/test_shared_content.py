"""A global module is edited beside a preview, sent for approval, and published by another user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from content.modules.global_modules import create_global, edit_global
from proofroom.shared_content.approval import set_modes
from proofroom.shared_content.proposals import find_waiting_proposal
from proofroom.shared_content.shared_types import GLOBAL_MODULE
from tests import make
from tests.browser.test_looks import serious_in_any_light

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def keep(page: Any, name: str) -> None:
    """Save a screenshot if `SCREENSHOTS` names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_a_global_module_is_previewed_approved_and_its_history_compared(open_page: Any) -> None:
    module = create_global(
        actor=make.actor("admin"),
        slug="newsletter",
        type="callout",
        label="Newsletter",
        props={"title": "Subscribe"},
    )
    for title in ("How to brew filter coffee", "What water does"):
        make.placed(make.post(title, slug=title.lower().replace(" ", "-")), module)
    edit_global(actor=make.actor("admin"), slug="newsletter", props={"title": "Subscribe today"})
    set_modes(actor=make.actor("admin"), wanted={GLOBAL_MODULE: "editors"})
    change = f"/admin/content/moduleinstance/{module.pk}/change/"
    review = f"/admin/content/shared/{GLOBAL_MODULE}/{module.pk}/review/"
    page = open_page(width=1440)
    page.goto(change)

    page.get_by_text("A change is visible on 2 published pages.").wait_for()
    page.locator("summary", has_text="Live preview").click()
    shown = page.frame_locator(".live-frame iframe")
    shown.get_by_text("Subscribe today").wait_for()
    page.locator("#f-props-title").fill("Write to us")
    shown.get_by_text("Write to us").wait_for()
    page.get_by_label("Page to preview").select_option(index=1)
    shown.get_by_role("heading", name="How to brew filter coffee", level=1).wait_for()
    shown.get_by_text("Write to us").wait_for()
    keep(page, "global-preview")
    assert serious_in_any_light(page) == []
    page.get_by_role("button", name="Send for approval").click()
    page.get_by_text("A change by editor is waiting for approval.").wait_for()
    module.refresh_from_db()
    assert module.props["title"] == "Subscribe today"

    admin = open_page("admin", width=1440)
    admin.goto("/admin/inbox/")
    admin.get_by_role("link", name="Newsletter").click()
    admin.wait_for_url(f"**{review}")
    keep(admin, "review")
    assert serious_in_any_light(admin) == []
    admin.get_by_role("button", name="Approve and publish").click()
    admin.get_by_text("No change is waiting here.").wait_for()
    module.refresh_from_db()
    assert module.props["title"] == "Write to us"
    assert find_waiting_proposal(GLOBAL_MODULE, module.pk) is None
    admin.get_by_role("link", name="History").click()
    admin.get_by_text("approved by admin").wait_for()
    keep(admin, "history")
    assert serious_in_any_light(admin) == []
    admin.get_by_role("link", name="Show changes").first.click()
    admin.get_by_role("heading", name="Title").wait_for()
    keep(admin, "compare")
    admin.goto("/admin/approval/")
    keep(admin, "approval")
    assert serious_in_any_light(admin) == []


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1440, True)])
def test_its_pages_fit(open_page: Any, width: int, dark: bool) -> None:
    module = create_global(
        actor=make.actor("admin"), slug="questions", type="faq", label="Questions"
    )
    make.placed(make.post(), module)
    edit_global(actor=make.actor("admin"), slug="questions", props={"heading": "Questions"})
    page = open_page("admin", width=width, dark=dark)

    for name, address in (
        ("edit", f"/admin/content/moduleinstance/{module.pk}/change/"),
        ("history", f"/admin/content/shared/{GLOBAL_MODULE}/{module.pk}/history/"),
        ("pages", f"/admin/content/shared/{GLOBAL_MODULE}/{module.pk}/pages/"),
    ):
        page.goto(address)
        page.locator(".tabs [aria-current=page]").wait_for()
        keep(page, f"{name}-{width}-{'dark' if dark else 'light'}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), name
