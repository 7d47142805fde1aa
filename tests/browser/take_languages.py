"""Takes the screenshot of the admin in German: `python -m pytest tests/browser/take_languages.py -m browser`."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.accounts.models import Preferences, User
from tests.browser.scene import coffee
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_BYTES = 200_000


def test_the_review_screen_in_german(open_page: Any) -> None:
    post = coffee()
    page = open_page(width=1280, height=900)
    Preferences.objects.create(user=User.objects.get(role="editor"), language="de")
    page.goto(f"/admin/content/post/{post.pk}/review/?layer=ai-review")
    page.wait_for_selector("html[lang=de]")

    keep(page, IMAGES / "german.png")

    assert (IMAGES / "german.png").stat().st_size < MOST_BYTES
