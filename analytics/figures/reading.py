"""Events as they are added up: values only, and of what pages said no more than is counted."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from analytics.figures.tallies import Row
from analytics.models import AnalyticsEvent

_SAID: Final = {
    "referrer": "referrer",
    "module": "postModuleId",
    "module_x": "moduleX",
    "module_y": "moduleY",
}


def read(after: int, to: int, limit: int, since: datetime | None = None) -> list[Row]:
    """The next events, in order."""
    chosen = AnalyticsEvent.objects.filter(id__gt=after, id__lte=to).order_by("id")
    if since is not None:
        chosen = chosen.filter(created_at__gte=since)
    found = chosen.values_list(
        "id",
        "event_type",
        # As texts: ids are only told apart here, and objects are slow at it.
        Cast("post_id", TextField()),
        Cast("variation_of", TextField()),
        "locale", "version", "goal", "created_at", "viewport_width", "x", "y",
        *(KeyTextTransform(name, "metadata") for name in _SAID.values()),
    )[:limit]  # fmt: skip
    return list(found)
