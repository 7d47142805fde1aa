"""Takes the screenshot of the review screen: `python -m pytest tests/browser/take_review.py -m browser`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.scene import coffee
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def test_the_review_screen(open_page: Any) -> None:
    post = coffee()
    page = open_page(width=1440, height=1000)
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    page.keyboard.press("]")
    page.frame_locator("[data-pane-frame] iframe").locator(".module").first.wait_for()
    page.locator('[data-path="post.title"]').focus()
    page.keyboard.press("a")
    page.keyboard.press("x")
    page.evaluate("() => scrollTo(0, 0)")

    keep(page, IMAGES / "review.png")

    assert (IMAGES / "review.png").stat().st_size < _MOST_BYTES
