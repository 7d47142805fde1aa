"""Guests: reviewers without account whose advice ends a step."""

from __future__ import annotations

from typing import Final

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom_apps.reviewers.models import ReviewerLink, Verdict
from proofroom_apps.steps.services import take_advice

_EVENTS: Final = ("post.reviewer-advice.given",)


def subscribe_to_advice() -> None:
    """Call once, at start."""
    outbox.subscribe(_EVENTS, end_step_of_guest, id="steps.guests.end_step")


def end_step_of_guest(event: Event) -> None:
    """End the open step of a guest who said yes to every change of their link. Idempotent."""
    links = ReviewerLink.objects.filter(pk=str(event.payload.get("id")), revoked_at__isnull=True)
    link = links.first()
    if link is None:
        return
    # Read again, because a guest may have changed their mind.
    advice = dict(link.advice.values_list("path", "verdict"))
    if any(advice.get(path) != Verdict.YES for path in link.paths):
        return
    take_advice(
        post_id=link.post_id,
        guest=link.name,
        digest=link.digest,
        paths=link.paths,
        invited_at=link.created_at,
    )
