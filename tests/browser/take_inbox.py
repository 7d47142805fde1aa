"""Takes the screenshots of home, inbox and matrix: `python -m pytest tests/browser/take_inbox.py -m browser`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.models import Dimension, Grain, SiteCount
from content.models import QueuedChange
from tests.browser import inbox_scene
from tests.browser.take_pictures import IMAGES, keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
_MOST_BYTES = 200_000


def taken(page: Any, name: str) -> None:
    keep(page, IMAGES / name)
    assert (IMAGES / name).stat().st_size < _MOST_BYTES


def test_home(open_page: Any) -> None:
    inbox_scene.full()
    today = timezone.now().date()
    SiteCount.objects.bulk_create(
        SiteCount(
            day=today - timedelta(days=days),
            grain=Grain.DAY,
            dimension=Dimension.TOTAL,
            value="",
            views=180 - days * 2 + (days * 37) % 50,
            clicks=20,
        )
        for days in range(60)
    )
    page = open_page("admin", width=1280, height=1000)
    page.goto("/admin/")
    taken(page, "home.png")


def test_the_inbox_and_like_changes(open_page: Any) -> None:
    inbox_scene.full()
    page = open_page(width=1280, height=1000)
    page.goto("/admin/inbox/")
    page.keyboard.press("j")
    page.keyboard.press("a")
    taken(page, "inbox.png")
    like = QueuedChange.objects.filter(path="post.metaDescription")[0].like
    page.goto(f"/admin/inbox/like/{like}/")
    taken(page, "inbox-like.png")


def test_the_matrix(open_page: Any) -> None:
    inbox_scene.translated()
    page = open_page(width=1280, height=760)
    page.goto("/admin/content/translations/")
    taken(page, "translations.png")
