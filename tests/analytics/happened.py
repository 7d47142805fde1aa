"""Stored views and clicks of one month, and the answers about them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from analytics.models import AnalyticsEvent
from content.models import Post
from tests.api_client import ApiClient

SUMMARY = "/api/analytics/summary"
HEATMAP = "/api/analytics/heatmap"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
MARCH = "from=2026-03-01&to=2026-03-31"


def keep(post: Post | None = None, at: datetime = NOON, **values: Any) -> None:
    values = {"event_type": "view", "metadata": {}, "locale": "en", "version": 1, **values}
    AnalyticsEvent.objects.create(post_id=post.pk if post else None, created_at=at, **values)


def click(post: Post, x: float, y: float, width: int = 1000, **values: Any) -> None:
    keep(post, event_type="click", x=x, y=y, viewport_width=width, **values)


def read(path: str) -> Any:
    return ApiClient("admin").read(path)
