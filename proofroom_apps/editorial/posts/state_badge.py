"""The state of a post in the header of its pages: a badge, a label, and the time that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from content.models import UNPUBLISHED, Post, Status, status_label


@dataclass(frozen=True, slots=True)
class StateBadge:
    """`kind` is a CSS class; `moment` is the time at the end of the label."""

    kind: str
    label: str
    moment: datetime | None = None


@dataclass(frozen=True, slots=True)
class PublicationState:
    """Where the content of a post is visible, and what waits to be approved."""

    status: str
    publish_at: datetime | None = None
    unpublish_at: datetime | None = None
    in_review: bool = False
    changes_in_review: int = 0
    is_placeholder: bool = False
    was_live: bool = False
    """True if it is or was published."""
    is_running: bool = False

    @property
    def is_scheduled(self) -> bool:
        return self.status == Status.DRAFT and self.publish_at is not None

    @property
    def expires(self) -> bool:
        return self.status == Status.PUBLISHED and self.unpublish_at is not None


def state_of(
    post: Post, *, changes_in_review: int = 0, in_review: bool = False
) -> PublicationState:
    return PublicationState(
        status=post.status,
        publish_at=post.publish_at,
        unpublish_at=post.unpublish_at,
        in_review=in_review,
        changes_in_review=changes_in_review,
        is_placeholder=post.is_placeholder,
        was_live=post.published_at is not None,
        is_running=post.variation_running,
    )


def badge_of(state: PublicationState) -> StateBadge:
    if state.in_review:
        return StateBadge("review", gettext("Changes in Review"))
    # Before the status: a running variation can be a draft, but visitors see it.
    if state.is_running:
        return StateBadge("published", gettext("Running in an experiment"))
    if state.is_placeholder:
        return StateBadge("ai-review", gettext("Proposed by an agent"))
    if state.is_scheduled:
        return StateBadge("scheduled", gettext("Scheduled for"), state.publish_at)
    if state.status == Status.PUBLISHED and state.changes_in_review:
        return StateBadge("review", gettext("Unpublished changes"))
    if state.was_live and state.status == Status.DRAFT:
        return StateBadge(UNPUBLISHED, status_label(UNPUBLISHED))
    if state.expires:
        return StateBadge("published", gettext("Published until"), state.unpublish_at)
    return StateBadge(state.status, status_label(state.status))
