"""Who edits which post now, as open pages are told."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, timedelta
from typing import Final
from uuid import UUID

from django.utils import timezone

from content.models import EditingMark
from proofroom.core.realtime import Here

FRESH: Final = timedelta(seconds=50)
"""A page that said nothing for so long is closed, or its computer sleeps."""
MOST: Final = 50


def editing_of(post_ids: Collection[UUID]) -> dict[UUID, list[Here]]:
    """Open pages by post, those who came first first. One query."""
    rows = EditingMark.objects.filter(
        post_id__in=post_ids, seen_at__gte=timezone.now() - FRESH, post__deleted_at__isnull=True
    ).order_by("since", "pk")
    found: dict[UUID, list[Here]] = {}
    for post_id, key, user_id, name, layer, since in rows.values_list(
        "post_id", "key", "user_id", "user__username", "layer", "since"
    )[: MOST * len(post_ids)]:
        at = since.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        found.setdefault(post_id, []).append(Here(key, user_id, name, layer, at))
    return found
