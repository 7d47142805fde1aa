"""The date of first publication, set by a person, for example for imported posts."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Final, Literal

from django.utils import timezone
from django.utils.translation import gettext as _

from content.layers.live import tags_of
from content.models import Post, Status
from content.paths.tree_changes import Following, check_below, update_descendant_paths
from content.store.layer_state import event_payload
from content.store.post_paths import check_paths_are_free, path_for, record_moves, set_path
from content.store.publish_permissions import PUBLISH
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import format_time
from proofroom.core.validation.moments import parse_moment


class _Unchanged(Enum):
    UNCHANGED = "unchanged"


UNCHANGED: Final = _Unchanged.UNCHANGED
PublishedAt = datetime | None | Literal[_Unchanged.UNCHANGED]
"""A date to set, None to clear it, or `UNCHANGED`."""


def read_published_at(value: object) -> datetime | None:
    """Parse a date from the API. Raises `RuleViolation` on `publishedAt`."""
    moment = parse_moment(value)
    if moment is None and value is not None:
        message = _("It must be a time with a zone, like 2030-01-31T12:00:00Z.")
        raise invalid("publishedAt", message)
    return moment


def check_published_at(moment: datetime | None, *, status: str, is_variation: bool) -> None:
    """Raise `RuleViolation` if a post with this status can't have the date."""
    message = ""
    if is_variation:
        message = _("A variation has the address of its original. It is promoted, not published.")
    elif moment is None and status == Status.PUBLISHED:
        message = _("A published post has a date of publication.")
    elif moment is not None and moment > timezone.now():
        message = _("The date of publication cannot be in the future. Schedule a draft instead.")
    if message:
        raise invalid("publishedAt", message)


def change_published_at(*, post: Post, moment: datetime | None, actor: Actor) -> None:
    """Set the date of a post that the caller has locked. The path changes if it contains the day.

    Does nothing if the date is equal to the millisecond, the precision of the API. Raises `NotAllowed` without
    `posts.publish`, `RuleViolation`.
    """
    if format_time(moment) == format_time(post.published_at):
        return
    actor.require_person("change the date of publication")
    actor.require(PUBLISH)
    check_published_at(moment, status=post.status, is_variation=post.variation_of_id is not None)
    was_published = post.published_at is not None
    post.published_at = moment
    moves = set_path(post, path_for(post))
    post.version += 1
    post.save()
    following = update_descendant_paths(post, actor) if moves else Following()
    outbox.record_each(
        ("post.updated",),
        actor=actor,
        post_id=post.pk,
        payload=event_payload(post),
        tags=tags_of(post),
    )
    # A draft's address was never public, so it needs no redirect.
    record_moves([*(moves if was_published else ()), *following.moves], actor)
    check_paths_are_free([move.post for move in (*moves, *following.moves)], actor)
    if following.is_left:
        check_below(post, actor)
