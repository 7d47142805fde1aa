"""Presence: the users who have the form of a post open. Open pages report repeatedly; without reports they expire."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import EditingMark, Layer, Post
from content.models.editing_mark import SOURCE
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.database_notifications import notify
from proofroom.core.errors import NotFound, invalid
from proofroom.core.realtime import PRESENCE_CHANNEL, OpenEditor

PRESENCE_TIMEOUT: Final = timedelta(seconds=50)
"""Time after the last report when a page counts as closed."""
MAX_EDITORS_SHOWN: Final = 50


def list_open_editors(post_ids: Collection[UUID]) -> dict[UUID, list[OpenEditor]]:
    """Return open pages by post, oldest first. One query."""
    rows = EditingMark.objects.filter(
        post_id__in=post_ids,
        is_closed=False,
        seen_at__gte=timezone.now() - PRESENCE_TIMEOUT,
        post__deleted_at__isnull=True,
    ).order_by("since", "pk")
    found: dict[UUID, list[OpenEditor]] = {}
    for post_id, key, user_id, name, layer, since in rows.values_list(
        "post_id", "key", "user_id", "user__username", "layer", "since"
    )[: MAX_EDITORS_SHOWN * len(post_ids)]:
        at = since.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        found.setdefault(post_id, []).append(OpenEditor(key, user_id, name, layer, at))
    return found


MAX_OPEN_PAGES: Final = 20
"""Number of pages per user and post; the oldest is deleted."""
MARK_LIFETIME: Final = timedelta(hours=1)
_KEY: Final = re.compile(r"[0-9a-f-]{36}\Z", re.ASCII)


@transaction.atomic
def mark_editing(*, post_id: UUID, key: str, actor: Actor, layer: str = SOURCE) -> None:
    """Record that the user has the form of a post open, under a key chosen by the page.

    Ignored if the page was already closed, because reports can arrive out of order.
    """
    _check(actor, key)
    if layer not in (SOURCE, Layer.REVIEW):
        raise invalid("layer", _("Only the live text and Review can be edited."))
    if not _is_visible(post_id, actor):
        raise NotFound(_("Post not found."))
    now = timezone.now()
    # The key comes from the browser: filtering on the user protects the marks of other users.
    own = EditingMark.objects.filter(post_id=post_id, user_id=actor.user.pk)
    known = own.filter(key=key)
    if known.filter(is_closed=True).exists():
        return
    if known.filter(layer=layer, seen_at__gte=now - PRESENCE_TIMEOUT).update(seen_at=now):
        return
    notify(PRESENCE_CHANNEL)
    if known.update(seen_at=now, layer=layer):
        return
    EditingMark.objects.filter(seen_at__lt=now - MARK_LIFETIME).delete()
    _add(post_id, actor, EditingMark(key=key, layer=layer, since=now, seen_at=now))


@transaction.atomic
def close_editor(*, post_id: UUID, key: str, actor: Actor) -> None:
    """Record that a page was closed, even if a report of it arrives later or is being written by another process."""
    _check(actor, key)
    known = EditingMark.objects.filter(post_id=post_id, user_id=actor.user.pk, key=key)
    if not known.update(is_closed=True) and _is_visible(post_id, actor):
        now = timezone.now()
        _add(post_id, actor, EditingMark(key=key, is_closed=True, since=now, seen_at=now))
        # Another process may have inserted an open mark between the first update and `_add`, which then
        # inserted nothing.
        known.update(is_closed=True)
    notify(PRESENCE_CHANNEL)


def _add(post_id: UUID, actor: Actor, mark: EditingMark) -> None:
    """Insert a mark unless the key exists, and delete the user's surplus marks."""
    mark.post_id, mark.user_id = post_id, actor.user.pk
    # Two reports of a new page may arrive at the same time.
    EditingMark.objects.bulk_create([mark], ignore_conflicts=True)
    own = EditingMark.objects.filter(post_id=post_id, user_id=actor.user.pk)
    newest = own.order_by("is_closed", "-seen_at").values_list("pk", flat=True)[:MAX_OPEN_PAGES]
    own.exclude(pk__in=list(newest)).delete()


def _is_visible(post_id: UUID, actor: Actor) -> bool:
    return visible_to(Post.objects.alive().filter(pk=post_id), actor).exists()


def _check(actor: Actor, key: str) -> None:
    actor.require_person(_("edit a post"))
    actor.require("posts.view")
    if not _KEY.match(key):
        raise invalid("key", _("The page ID must be a UUID with 36 characters."))
