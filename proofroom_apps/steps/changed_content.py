"""Agreements hold for exactly the content that was read: content that changes at an open step is agreed to again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom.definitions import steps_of
from proofroom_apps.steps.services import void_agreements

_EVENTS: Final = (
    "post.updated",
    "post.approve",
    "post.review.save",
    "post.review.approve",
    "post.review.reject",
    "post.review.reconsider",
    "post.ai-review.approve",
)


def subscribe_to_changes() -> None:
    """Call once, at start."""
    outbox.subscribe_to_many(_EVENTS, ask_again, id="steps.changed_content.ask_again")


def ask_again(events: Sequence[Event]) -> None:
    """Ask the people again who agreed to other content. No query for types without steps. Idempotent."""
    for post_id, type_ in {event.post_id: event.payload.get("type") for event in events}.items():
        # A step that needs one person is over with the first agreement.
        if post_id is not None and any(step.quorum > 1 for step in steps_of(str(type_))):
            void_agreements(post_id)
