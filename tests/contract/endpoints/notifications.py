"""A person's own notifications."""

from __future__ import annotations

from uuid import uuid4

from django.utils import timezone

from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from tests import make
from tests.contract.endpoint import PEOPLE, Endpoint, Names


def scene() -> Names:
    now, post = timezone.now(), make.post()
    event = make.event("post.review.approve", title=post.title)
    Event.objects.filter(pk=event.pk).update(post_id=post.pk)
    for role in sorted(PEOPLE):
        Notification.objects.create(
            user_id=make.user(role).pk,
            kind="review.decided",
            group=f"post.review.approve:{post.pk}",
            subjects=[str(post.pk)],
            event_id=event.pk,
            created_at=now,
            updated_at=now,
        )
    return {}


def grow(number: int) -> None:
    row = Notification.objects.filter(user=make.user("admin")).earliest("pk")
    # Everybody has their own, the roles of other walks too.
    for pk in User.objects.filter(is_active=True).values_list("pk", flat=True):
        row.user_id = pk
        make.copies(row, number, group=lambda _place: f"post.review.approve:{uuid4()}")


ENDPOINTS = [
    Endpoint("GET /api/notifications", PEOPLE, invalid=("?page=x", "page"), grow=grow),
    Endpoint(
        "POST /api/notifications/read", PEOPLE, body={}, invalid=({"ids": ["first"]}, "ids.0")
    ),
]
