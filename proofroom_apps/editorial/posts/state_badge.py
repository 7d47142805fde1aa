"""The state of a post in the header of its pages: a badge, a label, and the time that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from content.models import SCHEDULED, Post, Status, shown_status, status_label


@dataclass(frozen=True, slots=True)
class StateBadge:
    """The badge of a state. `kind` is a CSS class; `moment` is the time at the end of the label."""

    kind: str
    label: str
    moment: datetime | None = None


@dataclass(frozen=True, slots=True)
class PublicationState:
    """Where the content of a post is visible, and how much waits to be approved."""

    status: str
    published_at: datetime | None = None
    publish_at: datetime | None = None
    unpublish_at: datetime | None = None
    in_review: bool = False
    changes_in_review: int = 0
    is_placeholder: bool = False
    is_running: bool = False

    @property
    def shown_status(self) -> str:
        return shown_status(self.status, published_at=self.published_at, publish_at=self.publish_at)

    @property
    def is_scheduled(self) -> bool:
        return self.shown_status == SCHEDULED

    @property
    def expires(self) -> bool:
        return self.status == Status.PUBLISHED and self.unpublish_at is not None


def state_of(
    post: Post, *, changes_in_review: int = 0, in_review: bool = False
) -> PublicationState:
    """Return the state of a post. `in_review`: the page shows its changes in Review."""
    return PublicationState(
        status=post.status,
        published_at=post.published_at,
        publish_at=post.publish_at,
        unpublish_at=post.unpublish_at,
        in_review=in_review,
        changes_in_review=changes_in_review,
        is_placeholder=post.is_placeholder,
        is_running=post.variation_running,
    )


def badge_of(state: PublicationState) -> StateBadge:
    """Return the badge: `shown_status`, unless the header has something more precise to say."""
    if state.in_review:
        return StateBadge("review", gettext("Changes in Review"))
    # Before the status: a running variation can be a draft, but visitors see it.
    if state.is_running:
        return StateBadge("published", gettext("Running in an experiment"))
    if state.is_placeholder:
        return StateBadge("ai-review", gettext("Proposed by an agent"))
    if state.is_scheduled:
        return StateBadge(SCHEDULED, gettext("Scheduled for"), state.publish_at)
    if state.status == Status.PUBLISHED and state.changes_in_review:
        return StateBadge("review", gettext("Unpublished changes"))
    if state.expires:
        return StateBadge("published", gettext("Published until"), state.unpublish_at)
    return StateBadge(state.shown_status, status_label(state.shown_status))
