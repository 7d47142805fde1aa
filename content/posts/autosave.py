"""Autosave: a private copy of what somebody types, until it is saved. Nothing but its writer's form reads it."""

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
"""Of one copy, as JSON."""
MAX_COPIES: Final = 50
"""Of one person; the oldest is forgotten."""
MAX_LISTED: Final = 20
"""Of one form, the newest; the others come up once these are decided on."""
LIFETIME: Final = timedelta(days=30)
_AT_ONCE: Final = 1000

Entries = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Predecessor:
    """A copy whose content a page took over. One that was saved later than `saved_at` holds more than that."""

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
    follows: Collection[Predecessor] = (),
) -> Autosave:
    """Keep what the form holds under the name that its page chose. Raises `RuleViolation`, `NotFound`.

    Every open page has a name of its own, so that no page writes over what another holds. The copies that it
    `follows` are contained in this one and go. The copy of somebody else by the same name stays as it is.
    """
    actor.require_person(_("edit a post"))
    actor.require("posts.view" if post_id else "posts.create")
    if layer not in (SOURCE, Layer.REVIEW):
        raise invalid("layer", _("Only the live text and Review can be edited."))
    kept = [[name, value] for name, value in entries]
    if len(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise invalid("entries", _("Too long to keep as unsaved changes. Save your changes."))
    if post_id and not visible_to(Post.objects.alive().filter(pk=post_id), actor).exists():
        raise NotFound(_("Post not found."))
    copy = Autosave(
        id=key,
        user_id=actor.user.pk,
        post_id=post_id,
        layer=layer,
        entries=kept,
        saved_at=timezone.now(),
    )
    own = Autosave.objects.filter(user_id=actor.user.pk)
    same = _of_form(own, post_id, layer).filter(pk=key)
    if not same.update(entries=kept, saved_at=copy.saved_at):
        Autosave.objects.bulk_create([copy], ignore_conflicts=True)
        newest = own.order_by("-saved_at", "pk").values_list("pk", flat=True)[:MAX_COPIES]
        own.exclude(pk__in=list(newest)).delete()
    for one in follows:
        _delete_predecessor(one, actor)
    return copy


def list_copies(
    *, post_id: UUID | None, actor: Actor, layer: str = SOURCE, without: Collection[UUID] = ()
) -> list[Autosave]:
    """The copies that this person has of the form of a post, or of one for a new post, the newest first."""
    own = _own_copies(post_id, actor, layer).exclude(pk__in=list(without))
    return list(own.order_by("-saved_at", "pk")[:MAX_LISTED])


def find_copy(
    *, key: UUID, post_id: UUID | None, actor: Actor, layer: str = SOURCE
) -> Autosave | None:
    """The copy of this name that this person has of the form."""
    return _own_copies(post_id, actor, layer).filter(pk=key).first()


def _own_copies(post_id: UUID | None, actor: Actor, layer: str) -> QuerySet[Autosave]:
    own = _of_form(Autosave.objects.filter(user_id=actor.user.pk), post_id, layer)
    return own.filter(saved_at__gte=timezone.now() - LIFETIME)


def _of_form(copies: QuerySet[Autosave], post_id: UUID | None, layer: str) -> QuerySet[Autosave]:
    if post_id is None:
        return copies.filter(post__isnull=True, layer=layer)
    return copies.filter(post_id=post_id, layer=layer)


def discard_copy(*, key: UUID, actor: Actor, follows: Collection[Predecessor] = ()) -> None:
    """Forget a copy: it was saved, with those that it follows, or its writer does not want it."""
    for one in (Predecessor(key), *follows):
        _delete_predecessor(one, actor)


def _delete_predecessor(one: Predecessor, actor: Actor) -> None:
    own = Autosave.objects.filter(pk=one.key, user_id=actor.user.pk)
    if one.saved_at is not None:
        own = own.filter(saved_at=one.saved_at)
    own.delete()


def delete_expired_copies() -> int:
    """Delete what nobody came back for, so many at a time. Safe to run twice. Answers how many."""
    old = Autosave.objects.filter(saved_at__lt=timezone.now() - LIFETIME).order_by("saved_at")
    total = 0
    while ids := list(old.values_list("pk", flat=True)[:_AT_ONCE]):
        total += Autosave.objects.filter(pk__in=ids).delete()[0]
    return total
