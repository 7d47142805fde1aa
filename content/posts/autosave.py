"""Autosave: private copies of unsaved form input. Only the form of the same user reads them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import Autosave, Layer, Post
from content.models.editing_mark import SOURCE
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, invalid

MAX_BYTES: Final = 2_000_000
"""Size of one copy in bytes, as JSON."""
MAX_COPIES: Final = 50
"""Number of copies per user; the oldest are deleted."""
MAX_LISTED: Final = 20
"""Number of copies listed for one form, newest first."""
LIFETIME: Final = timedelta(days=30)
# Bounds the IN list of one DELETE and the duration of its transaction.
_AT_ONCE: Final = 1000

Entries = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SupersededCopy:
    """A copy whose content another page took over.

    If the copy was saved after `saved_at`, it holds newer input and must not be deleted.
    """

    key: UUID
    saved_at: datetime | None = None


@transaction.atomic
def save_copy(
    *,
    key: UUID,
    post_id: UUID | None,
    actor: Actor,
    entries: Entries,
    layer: str = SOURCE,
    follows: Collection[SupersededCopy] = (),
) -> Autosave:
    """Save the content of a form under the page's key, and delete the copies in `follows`, which it replaces.

    Each open page uses its own key, so pages don't overwrite each other. A copy of another user with the same
    key is not changed. Raises `RuleViolation`, `NotFound`.
    """
    actor.require_person(_("edit a post"))
    actor.require("posts.view" if post_id else "posts.create")
    if layer not in (SOURCE, Layer.REVIEW):
        raise invalid("layer", _("Only the live text and Review can be edited."))
    stored_entries = [[name, value] for name, value in entries]
    # JSON from a browser may contain lone surrogates, which plain UTF-8 can't encode.
    if (
        len(json.dumps(stored_entries, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        > MAX_BYTES
    ):
        raise invalid("entries", _("Too long to keep as unsaved changes. Save your changes."))
    if post_id and not visible_to(Post.objects.alive().filter(pk=post_id), actor).exists():
        raise NotFound(_("Post not found."))
    copy = Autosave(
        id=key,
        user_id=actor.user.pk,
        post_id=post_id,
        layer=layer,
        entries=stored_entries,
        saved_at=timezone.now(),
    )
    own = Autosave.objects.filter(user_id=actor.user.pk)
    same = _of_form(own, post_id, layer).filter(pk=key)
    # The key comes from the browser. Filtering on the user keeps a client from overwriting another user's
    # copy, and `ignore_conflicts` makes the insert a no-op in that case.
    if not same.update(entries=stored_entries, saved_at=copy.saved_at):
        Autosave.objects.bulk_create([copy], ignore_conflicts=True)
        # Only after an insert, because an update doesn't change the number of copies.
        newest = own.order_by("-saved_at", "pk").values_list("pk", flat=True)[:MAX_COPIES]
        own.exclude(pk__in=list(newest)).delete()
    for one in follows:
        _delete_predecessor(one, actor)
    return copy


def list_copies(
    *, post_id: UUID | None, actor: Actor, layer: str = SOURCE, without: Collection[UUID] = ()
) -> list[Autosave]:
    """Return the user's copies for the form of a post, or of a new post if `post_id` is None, newest first."""
    own = _own_copies(post_id, actor, layer).exclude(pk__in=list(without))
    return list(own.order_by("-saved_at", "pk")[:MAX_LISTED])


def find_copy(
    *, key: UUID, post_id: UUID | None, actor: Actor, layer: str = SOURCE
) -> Autosave | None:
    """Return the user's copy with this key, or None."""
    return _own_copies(post_id, actor, layer).filter(pk=key).first()


def _own_copies(post_id: UUID | None, actor: Actor, layer: str) -> QuerySet[Autosave]:
    own = _of_form(Autosave.objects.filter(user_id=actor.user.pk), post_id, layer)
    return own.filter(saved_at__gte=timezone.now() - LIFETIME)


def _of_form(copies: QuerySet[Autosave], post_id: UUID | None, layer: str) -> QuerySet[Autosave]:
    if post_id is None:
        return copies.filter(post__isnull=True, layer=layer)
    return copies.filter(post_id=post_id, layer=layer)


def discard_copy(*, key: UUID, actor: Actor, follows: Collection[SupersededCopy] = ()) -> None:
    """Delete a copy and its predecessors, after saving or when the user discards it."""
    for one in (SupersededCopy(key), *follows):
        _delete_predecessor(one, actor)


def _delete_predecessor(one: SupersededCopy, actor: Actor) -> None:
    own = Autosave.objects.filter(pk=one.key, user_id=actor.user.pk)
    if one.saved_at is not None:
        # A later save means that the page is still in use and holds input its successor doesn't have.
        own = own.filter(saved_at=one.saved_at)
    own.delete()


def delete_expired_copies() -> int:
    """Delete expired copies in batches and return their number. Safe to run twice."""
    old = Autosave.objects.filter(saved_at__lt=timezone.now() - LIFETIME).order_by("saved_at")
    total = 0
    while ids := list(old.values_list("pk", flat=True)[:_AT_ONCE]):
        total += Autosave.objects.filter(pk__in=ids).delete()[0]
    return total
