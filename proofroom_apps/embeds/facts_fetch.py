"""Fetch facts about the addresses that are due, in a task. Web processes load neither it nor its image library."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from content.document.contents import EMBED
from content.models import PostModule
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.caching.content_tags import tag_of_post
from proofroom.core.json import JsonObject
from proofroom_apps.embeds.models import PROBLEM_MAX, EmbedFacts, FactsState
from proofroom_apps.embeds.oembed import Facts, NoFacts, fetch_facts
from proofroom_apps.embeds.providers import find_provider

FETCHED_AT_ONCE: Final = 10
"""Number of addresses for which one call of the task fetches facts."""
_SYSTEM: Final = Actor(user=SYSTEM, via="system")
_CLAIM: Final = timedelta(minutes=10)
"""Time after which an address that a killed worker had claimed is due again."""
_PAUSES: Final = (timedelta(minutes=5), timedelta(hours=1), timedelta(days=1))
"""Pauses before further attempts, if a provider cannot be reached."""


def fetch_due_facts() -> int:
    """Fetch facts about the addresses that are due, and return their number. Safe to run twice at the same time."""
    due = _claim_due()
    for row in due:
        _fetch(row)
    return len(due)


@transaction.atomic
def _claim_due() -> list[EmbedFacts]:
    now = timezone.now()
    rows = EmbedFacts.objects.select_for_update(skip_locked=True, of=("self",))
    due = list(rows.filter(due_at__lte=now).order_by("due_at")[:FETCHED_AT_ONCE])
    EmbedFacts.objects.filter(pk__in=[row.pk for row in due]).update(due_at=now + _CLAIM)
    return due


def _fetch(row: EmbedFacts) -> None:
    provider = find_provider(row.url)
    try:
        if provider is None:
            raise NoFacts("The provider is no longer known.", is_temporary=False)
        store_facts(row, provider.name, fetch_facts(provider, row.url))
    except NoFacts as problem:
        _store_failure(row, problem)


@transaction.atomic
def store_facts(row: EmbedFacts, provider: str, facts: Facts) -> None:
    row.state, row.provider = FactsState.READY, provider
    row.title, row.author = facts.title, facts.author
    row.width, row.height = facts.width, facts.height
    thumbnail = facts.thumbnail
    row.thumbnail = thumbnail.content if thumbnail else None
    row.thumbnail_digest = thumbnail.digest if thumbnail else ""
    row.thumbnail_width = thumbnail.width if thumbnail else None
    row.thumbnail_height = thumbnail.height if thumbnail else None
    row.problem, row.due_at, row.fetched_at = "", None, timezone.now()
    row.save()
    _invalidate_posts(row)


def _store_failure(row: EmbedFacts, problem: NoFacts) -> None:
    has_retry = problem.is_temporary and row.attempts < len(_PAUSES)
    EmbedFacts.objects.filter(pk=row.pk).update(
        state=FactsState.FAILED,
        problem=str(problem)[:PROBLEM_MAX],
        due_at=timezone.now() + _PAUSES[row.attempts] if has_retry else None,
        attempts=row.attempts + 1,
    )


def _invalidate_posts(row: EmbedFacts) -> None:
    """Drop the cached answers of the posts that embed the address."""
    # The stored address has no fragment, such as a time, but that of a module may have one.
    begins = Q(instance__props__url__startswith=row.url) | Q(overrides__url__startswith=row.url)
    places = PostModule.objects.filter(begins, instance__type=EMBED)
    posts: list[UUID] = sorted(set(places.values_list("post_id", flat=True)))
    if not posts:
        return
    payload: JsonObject = {"url": row.url, "posts": [str(id_) for id_ in posts]}
    tags = [tag_of_post(id_) for id_ in posts]
    outbox.record("embed.changed", actor=_SYSTEM, payload=payload, tags=tags)
