"""A person's own notifications."""

from __future__ import annotations

from django.utils import timezone

from proofroom.notifications.models import Notification
from tests import make
from tests.contract.endpoint import PEOPLE, Endpoint, Names


def scene() -> Names:
    now, post = timezone.now(), make.post()
    event = make.event("post.published", title="Coffee")
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
    make.copies(
        Notification.objects.filter(user=make.user("admin")).earliest("pk"),
        number,
        group=lambda place: f"post.review.approve:{place}",
    )


ENDPOINTS = [
    Endpoint("GET /api/notifications", PEOPLE, invalid=("?page=x", "page"), grow=grow),
    Endpoint(
        "POST /api/notifications/read", PEOPLE, body={}, invalid=({"ids": ["first"]}, "ids.0")
    ),
]
