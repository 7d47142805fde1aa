"""Feedback: notes on posts. Only the author changes the text; users who may resolve a note can also sort it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import Post
from content.store.scopes import filter_by_visible_post, require_in_scope, visible_to
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotAllowed, NotFound, invalid
from proofroom.core.validation.input_validation import is_one_line
from proofroom_apps.feedback.models import Feedback, FeedbackCategory, FeedbackStatus

CONTENT_MAX: Final = 5_000
SELECTOR_MAX: Final = 500
MAX_COORDINATE: Final = 1_000_000
"""Largest coordinate, in pixels."""
# All but tab, line feed and carriage return.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@transaction.atomic
def create_feedback(
    *,
    post_id: str,
    content: str,
    actor: Actor,
    category: str = FeedbackCategory.COMMENT,
    x: float | None = None,
    y: float | None = None,
    element_selector: str = "",
) -> Feedback:
    """Create a note on a post. Raises `NotAllowed`, or `RuleViolation` keyed by wire names."""
    actor.require_person("give feedback")
    actor.require("feedback.create")
    actor.require("posts.view")
    text = element_selector
    text = text.strip()
    if len(text) > SELECTOR_MAX or not is_one_line(text):
        raise invalid(
            "elementSelector",
            _("elementSelector must be one line of at most %(selector_max)s characters.")
            % {"selector_max": SELECTOR_MAX},
        )
    row = Feedback(
        category=_one_of("category", category, FeedbackCategory.values),
        content=_clean_content(content),
        x=_clean_place("x", x),
        y=_clean_place("y", y),
        element_selector=text,
        author_id=actor.user.pk,
    )
    # A hidden post gets the same answer as an unknown id.
    rows = Post.objects.filter(deleted_at__isnull=True)
    post = find_by_id(visible_to(rows, actor), post_id)
    if post is None:
        raise invalid("postId", _("No post has this ID."), code="unknown_post")
    require_in_scope(post, actor)
    row.post = post
    row.save(force_insert=True)
    _record("feedback.created", row, actor)
    return row


@transaction.atomic
def change_feedback(
    *,
    feedback_id: UUID | str,
    actor: Actor,
    status: str | None = None,
    category: str | None = None,
    content: str | None = None,
) -> Feedback:
    """Resolve or reopen a note, sort it, or change its text (its author only). None leaves a value unchanged."""
    actor.require_person("change feedback")
    actor.require("feedback.view")  # the answer shows it
    row = _lock_feedback(feedback_id, actor)
    before = (row.status, row.category, row.content)
    if status is not None:
        status = _one_of("status", status, FeedbackStatus.values)
    if status is not None and status != row.status:
        actor.require("feedback.resolve")
        row.status = status
        is_resolved = status == FeedbackStatus.RESOLVED
        row.resolved_by_id = actor.user.pk if is_resolved else None
        row.resolved_at = timezone.now() if is_resolved else None
    if category is not None:
        row.category = _one_of("category", category, FeedbackCategory.values)
    if content is not None:
        row.content = _clean_content(content)
    # Authors may sort their own notes without this permission.
    if row.category != before[1] and row.author_id != actor.user.pk:
        actor.require("feedback.resolve")
    if row.content != before[2] and row.author_id != actor.user.pk:
        message = _("Only the author of feedback can change its text.")
        raise NotAllowed(message, code="not_the_author", details={"content": [message]})
    if (row.status, row.category, row.content) != before:
        row.save()
        _record("feedback.changed", row, actor)
    return row


@transaction.atomic
def delete_feedback(*, feedback_id: UUID | str, actor: Actor) -> UUID:
    """Delete a note permanently. Raises `NotAllowed` for another author's note unless the actor is a moderator."""
    actor.require_person("delete feedback")
    actor.require("feedback.delete")
    try:
        row = _lock_feedback(feedback_id, actor)
    except NotFound:
        # Users who may delete only their own notes get the same answer for others' notes as for unknown ids.
        if not actor.can("feedback.moderate"):
            raise _not_the_author() from None
        raise
    if not may_delete(row, actor):
        raise _not_the_author()
    pk = row.pk
    _record("feedback.deleted", row, actor)
    Feedback.objects.filter(pk=pk).delete()
    return pk


def prune_feedback(*, days: int) -> int:
    """Delete notes that were resolved more than `days` ago. Return their number. 0 keeps everything."""
    if days <= 0:
        return 0
    old = Feedback.objects.filter(
        status=FeedbackStatus.RESOLVED, resolved_at__lt=timezone.now() - timedelta(days=days)
    )
    return old.delete()[0]


def _not_the_author() -> NotAllowed:
    message = _("Only editors and administrators can delete other people’s feedback.")
    return NotAllowed(message, code="not_the_author")


def may_delete(row: Feedback, actor: Actor) -> bool:
    """Return whether the actor may delete the note: their own, or any as a moderator."""
    return actor.can("feedback.delete") and (
        row.author_id == actor.user.pk or actor.can("feedback.moderate")
    )


def _lock_feedback(feedback_id: UUID | str, actor: Actor) -> Feedback:
    """Lock and return the note.

    Raises `NotFound`, also if its post is in the trash, and `NotAllowed` for a post out of scope.
    """
    # Lock only the note: the filter joins its post.
    rows = Feedback.objects.select_for_update(of=("self",)).filter(post__deleted_at__isnull=True)
    row = find_by_id(filter_by_visible_post(rows, actor), feedback_id)
    if row is None:
        raise NotFound(_("Feedback not found."))
    # Without a scope, save the query for the post.
    if actor.scopes:
        require_in_scope(row.post, actor)
    return row


def _one_of(name: str, value: str, known: list[str]) -> str:
    if value not in known:
        raise invalid(
            name,
            _("%(name)s must be one of: %(known)s.") % {"name": name, "known": ", ".join(known)},
        )
    return value


def _clean_content(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise invalid("content", _("content must not be empty."))
    if len(text) > CONTENT_MAX:
        raise invalid(
            "content",
            _("content can have at most %(content_max)s characters.")
            % {"content_max": f"{CONTENT_MAX:,}"},
        )
    if _CONTROL.search(text):
        raise invalid("content", _("content must not contain control characters."))
    return text


def _clean_place(name: str, value: float | None) -> float | None:
    # Comparisons with NaN are False, so it is rejected too.
    if value is not None and not 0 <= value <= MAX_COORDINATE:
        raise invalid(
            name,
            _("%(name)s must be a number from 0 to %(farthest)s.")
            % {"name": name, "farthest": f"{MAX_COORDINATE:,}"},
        )
    return value


def _record(name: str, row: Feedback, actor: Actor) -> None:
    payload = {"id": str(row.pk), "category": row.category, "status": row.status}
    outbox.record(name, actor=actor, post_id=row.post_id, payload=dict(payload))
