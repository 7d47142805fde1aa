"""Reports take a constant number of statements for any number of posts."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from analytics.models import HeatBatch, HeatSheet, PostCount, SiteCount
from content.models import Post
from tests import make
from tests.analytics.heat_cells import batch, pack
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

SUMMARY = "/api/analytics/summary"


def statements(path: str) -> int:
    client = ApiClient("admin")
    client.read(path)  # the settings of the site are read once
    return count_queries(client.read, path)


def grow_posts(number: int) -> None:
    """Create more posts, each viewed today, from as many sites and at as many positions."""
    post = Post.objects.first() or make.post()
    made = make.copies(
        post, number, slug=lambda _: uuid4().hex, translation_group=lambda _: uuid4()
    )
    for row in made:
        count(row.pk, "total", "")


def count(post_id: UUID, dimension: str, value: str) -> None:
    today = timezone.now().date()
    PostCount.objects.create(
        post_id=post_id, dimension=dimension, grain="day", day=today, value=value, views=1
    )


def grow_values(number: int) -> None:
    today = timezone.now().date()
    SiteCount.objects.bulk_create(
        SiteCount(dimension=dimension, grain="day", day=today, value=uuid4().hex[:12], views=1)
        for dimension in ("referrer", "locale", "device")
        for _ in range(number)
    )


def grow_cells(number: int) -> None:
    today, post = timezone.now().date(), Post.objects.get()
    taken = HeatBatch.objects.count()
    page = {"post_id": post.pk, "event_type": "click", "device": "mobile"}
    for place in range(taken, taken + number):
        for module in ("", str(uuid4())):
            sheet, _ = HeatSheet.objects.get_or_create(module_id=module, **page)
            batch(sheet, today, [pack(place % 100, place)])


@pytest.mark.parametrize("grow", [grow_posts, grow_values], ids=["posts", "values"])
def test_a_summary_takes_as_many_for_a_thousand(grow: Callable[[int], None]) -> None:
    counts = []
    for number in (1, 10, 300):
        grow(number)
        counts.append(statements(SUMMARY))

    assert len(set(counts)) == 1
    assert counts[0] <= 20


@pytest.mark.parametrize("path", ["heatmap", "heatmap/modules"])
def test_a_heatmap_takes_as_many_for_a_thousand_cells(path: str) -> None:
    post = make.post()
    counts = []
    for number in (1, 300):
        grow_cells(number)
        counts.append(statements(f"/api/analytics/{path}?postId={post.pk}"))

    assert len(set(counts)) == 1
    assert counts[0] <= 20
