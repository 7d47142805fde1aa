"""Takes the screenshot of the fields: `python -m pytest tests/browser/take_fields.py -m browser`."""

from __future__ import annotations

from typing import Any

import pytest

from tests import make
from tests.browser.scene import coffee
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def test_the_rich_text_and_the_page_beside_it(open_page: Any) -> None:
    post = coffee()
    page = open_page("admin", width=1500, height=1000)
    page.goto(f"/admin/content/post/{post.pk}/change/")
    page.get_by_role("tab", name="Preview").click()
    page.locator(".nav").evaluate("(one) => { one.hidden = true }")
    card = page.locator(f"#m-{make.module_id(post, 'prose')}")
    card.scroll_into_view_if_needed()
    card.locator(".rt-page").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("Slowly. ")
    frame = page.frame_locator(".live-preview iframe")
    frame.get_by_text("Slowly.").wait_for()
    card.evaluate("(one) => scrollTo(0, one.offsetTop - 260)")

    keep(page, IMAGES / "fields.png")

    assert (IMAGES / "fields.png").stat().st_size < _MOST_BYTES
