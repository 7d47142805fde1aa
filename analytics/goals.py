"""Goals that the server sees reached itself; those that a page reports come with its other events."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from analytics.ingest.visitor_filter import counts
from analytics.models import EventType
from analytics.services.track import Seen, record_events


def count_goal(request: HttpRequest, post_id: UUID | None, goal: str) -> None:
    """Count a goal, such as a form that was taken.

    The rules of views and clicks apply. It has no place on the page, and is no click.
    """
    if counts(request):
        record_events(seen=[Seen(EventType.CLICK, post_id, goal=goal)])
