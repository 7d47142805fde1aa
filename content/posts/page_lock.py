"""Lock a page: keep others from changing a post for a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import Post
from content.store.layer_state import event_payload, lock_post
from content.store.page_locks import find_page_lock, locked_error
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import format_time

UNLOCK: Final = "posts.unlock"
LONGEST_LOCK: Final = timedelta(days=30)


@transaction.atomic
def lock_page(*, post_id: UUID | str, until: datetime, actor: Actor) -> Post:
    """Lock a post until a time. The holder may change the time.

    Raises `RuleViolation` on `until`, and `Conflict` (`locked_by`) if another person has locked it.
    """
    actor.require_person(_("lock a post"))
    _require_writer(actor)
    now = timezone.now()
    if until <= now:
        raise invalid("until", _("Choose a time in the future."))
    if until > now + LONGEST_LOCK:
        message = _("A post can be locked for at most %(days)s days.")
        raise invalid("until", message % {"days": LONGEST_LOCK.days})
    post = lock_post(post_id, actor)
    if (post.locked_by_id, post.locked_until) == (actor.user.pk, until):
        return post
    _write(post, actor.user.pk, until)
    _record("post.locked", post, actor, until=format_time(until))
    return post


@transaction.atomic
def unlock_page(*, post_id: UUID | str, actor: Actor) -> Post:
    """End the lock of a post, if it has one. Ending the lock of another person needs `posts.unlock`."""
    actor.require_person(_("unlock a post"))
    _require_writer(actor)
    post = lock_post(post_id, actor, heeds_page_lock=False)
    lock = find_page_lock(post)
    if lock is not None and lock.user_id != actor.user.pk and not actor.can(UNLOCK, post):
        raise locked_error(post, lock)
    if post.locked_by_id is None:
        return post
    _write(post, None, None)
    # A lock that had ended by itself needs no entry.
    if lock is not None:
        _record("post.unlocked", post, actor, isBroken=lock.user_id != actor.user.pk)
    return post


def _require_writer(actor: Actor) -> None:
    if not actor.can("posts.edit"):
        actor.require("posts.translate")


def _write(post: Post, user_id: int | None, until: datetime | None) -> None:
    # Not `save`: a lock changes neither the version nor the date of the last change.
    Post.objects.filter(pk=post.pk).update(locked_by_id=user_id, locked_until=until)
    post.locked_by_id, post.locked_until = user_id, until


def _record(name: str, post: Post, actor: Actor, **more: str | bool | None) -> None:
    payload = {**event_payload(post), **more}
    # Visitors see nothing of a lock.
    outbox.record(name, actor=actor, post_id=post.pk, payload=payload, tags=())
