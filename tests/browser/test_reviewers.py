"""A reviewer without an account, from the invitation to the advice on the review screen, in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from content.models import Layer
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_looks import serious
from tests.browser.test_previews import rearranged

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOLDER = os.environ.get("PICTURES", "")


def picture(page: Any, name: str) -> None:
    """Take a picture for somebody to look at, if `PICTURES` names a folder."""
    if FOLDER:
        page.screenshot(path=str(Path(FOLDER) / f"{name}.png"), full_page=True)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_reviewer_is_invited_answers_and_is_read(open_page: OpenPage, dark: bool) -> None:
    post = rearranged()
    make.staged(
        post,
        {"title": "A better title", "featuredMediaId": str(make.image().pk)},
        layer=Layer.REVIEW,
    )
    editor = open_page("editor", dark=dark)
    review = f"/admin/content/post/{post.pk}/review/?layer=review"
    editor.goto(review)
    editor.click(".review-details > summary")
    editor.click("text=Invite a reviewer")
    editor.fill("#reviewer_name", "Dr. Ada Weber")
    editor.click("#reviewers button:has-text('Create link')")
    # The address is that of SITE_URL, not of the server of the test.
    address = urlsplit(editor.input_value("#made-link")).path
    picture(editor, f"made-{dark}")

    guest = open_page(None, dark=dark, width=390, height=844)
    guest.goto(address)
    assert serious(guest) == []
    assert guest.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    title = guest.locator("article", has=guest.locator('[id="l-post.title"]'))
    title.get_by_text("Yes", exact=True).click()
    title.locator("textarea").fill("Short and clear.")
    picture(guest, f"guest-{dark}")
    guest.click("text=Send answers")
    expect(guest.get_by_text("Your answers were sent.")).to_be_visible()
    expect(title.locator("input[value=yes]")).to_be_checked()

    wide = open_page(None, dark=dark)
    wide.goto(address)
    picture(wide, f"wide-{dark}")

    editor.goto(review)
    expect(editor.locator('[id="c-post.title"] .advice')).to_contain_text("Short and clear.")
    assert serious(editor) == []
    picture(editor, f"review-{dark}")
    phone = open_page("editor", dark=dark, width=390, height=844)
    phone.goto(review)
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    picture(phone, f"phone-{dark}")

    make.staged(post, {"title": "The best title"}, layer=Layer.REVIEW)
    over = open_page(None, dark=dark, width=390, height=844, scripts=False)
    over.goto(address)
    expect(over.get_by_role("heading")).to_have_text("This link has ended")
    picture(over, f"over-{dark}")
