"""The names of authors that readers see. People choose them in their accounts, of which nothing else is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import F, OuterRef, QuerySet

from content.models import PostAuthor
from proofroom.accounts.models import Preferences
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.event_kinds import SITE_CHANGED
from proofroom.core.models import Event

_NAME: Final = "user__preferences__public_name"


def named_authors() -> QuerySet[PostAuthor]:
    """Return the authors of a post of an outer query that readers see, in order. `reader_name` is the name."""
    rows = PostAuthor.objects.filter(post_id=OuterRef("pk"), **{f"{_NAME}__gt": ""})
    return rows.order_by("place").annotate(reader_name=F(_NAME))


def load_author_names(user_ids: Sequence[int]) -> list[str]:
    """Return the names of accounts that readers see, in the given order. One query, none without ids."""
    if not user_ids:
        return []
    rows = Preferences.objects.filter(user__in=user_ids, public_name__gt="")
    names = dict(rows.values_list("user_id", "public_name"))
    return [names[id_] for id_ in user_ids if id_ in names]


def invalidate_names(event: Event) -> None:
    """Invalidate all pages if an author chose another name. At most one query."""
    changed = event.payload.get("changed")
    if not isinstance(changed, list) or "public_name" not in changed:
        return
    if PostAuthor.objects.filter(user=event.payload.get("id")).exists():
        outbox.record(SITE_CHANGED, actor=Actor(user=SYSTEM, via="system"), payload={})
