"""The rows of media references made anew from what is stored: for rows that came in past the services."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from content.media_usage.usage_rows import GLOBAL, POST, collect_global_uses, collect_uses
from content.models import ModuleInstance, Post
from media.models import MediaReference
from media.services.references import Held, drop_references, set_references

_BATCH: Final = 100


def rebuild_references() -> int:
    """Make the rows of every post and global module say what they use. Safe to run twice, and beside writers.

    Answers how many rows there are then.
    """
    for holder_kind, holders in ((POST, find_posts_using_media()), (GLOBAL, _globals())):
        ids = list(holders.order_by("pk").values_list("pk", flat=True))
        for begin in range(0, len(ids), _BATCH):
            _rebuild(holder_kind, ids[begin : begin + _BATCH])
        # Rows of holders that are no more.
        named = MediaReference.objects.filter(holder_kind=holder_kind).values_list("holder_id", flat=True)
        drop_references(holder_kind, set(named.distinct()) - set(holders.values_list("pk", flat=True)))
    return MediaReference.objects.count()


def find_posts_using_media() -> QuerySet[Post]:
    """The posts whose files are in use: those in the trash, and the variations of those, use none."""
    return Post.objects.filter(
        Q(variation_of__isnull=True) | Q(variation_of__deleted_at__isnull=True),
        deleted_at__isnull=True,
    )


def _globals() -> QuerySet[ModuleInstance]:
    return ModuleInstance.objects.filter(scope="global")


@transaction.atomic
def _rebuild(kind: str, ids: Sequence[UUID]) -> None:
    held: Iterable[Held]
    if kind == POST:
        # Found again, now that they are locked: some may have gone into the trash meanwhile.
        locked = Post.objects.filter(pk__in=ids).order_by("pk")
        list(locked.select_for_update(of=("self",), no_key=True).values_list("pk"))
        held = collect_uses(list(find_posts_using_media().filter(pk__in=ids)))
    else:
        rows = _globals().filter(pk__in=ids).order_by("pk").select_for_update(of=("self",))
        held = collect_global_uses(list(rows))
    drop_references(kind, ids)
    set_references(held)
