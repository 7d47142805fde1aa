"""Goals detected by the server. Goals detected by pages are reported with their other events."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from analytics.ingest.visitor_filter import counts
from analytics.models import EventType
from analytics.services.track import Seen, record_events


def count_goal(request: HttpRequest, post_id: UUID | None, goal: str) -> None:
    """Count a goal, such as a submitted form.

    The rules of views and clicks apply. It has no position, and is not a click.
    """
    if counts(request):
        record_events(seen=[Seen(EventType.CLICK, post_id, goal=goal)])
