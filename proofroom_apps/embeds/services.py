"""Stores what providers say about embedded addresses. A task asks them; no request of a user waits for one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from content.document.contents import EMBED, outside_url
from content.models import PostModule
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.caching.content_tags import tag_of_post
from proofroom.core.json import JsonObject
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom_apps.embeds.models import PROBLEM_MAX, EmbedFacts, FactsState
from proofroom_apps.embeds.oembed import Facts, NoFacts, ask_provider
from proofroom_apps.embeds.providers import find_provider

_SYSTEM: Final = Actor(user=SYSTEM, via="system")
TASK: Final = "embeds.tasks.fetch_due_facts"
ASKED_AT_ONCE: Final = 20
"""Addresses that one call of the task asks about."""
_CLAIM: Final = timedelta(minutes=5)
"""Time after which an address that a killed worker had claimed is due again."""
_PAUSES: Final = (timedelta(minutes=5), timedelta(hours=1), timedelta(days=1))
"""Pauses before further attempts, if a provider cannot be reached."""


def key_of(url: str) -> str:
    """Return the key of an address, without its fragment; "" if it is no address of another site."""
    bare = outside_url(url)
    return hashlib.sha256(bare.encode()).hexdigest() if bare else ""


def request_facts(urls: Iterable[str]) -> None:
    """Have the providers asked about addresses that nothing is known about. Others are ignored."""
    wanted = {key: url for url in urls if find_provider(url) and (key := key_of(url))}
    if not wanted:
        return
    known = set(EmbedFacts.objects.filter(key__in=wanted).values_list("key", flat=True))
    rows = [
        EmbedFacts(key=key, url=outside_url(url)) for key, url in wanted.items() if key not in known
    ]
    if rows:
        EmbedFacts.objects.bulk_create(rows, ignore_conflicts=True)
        _wake()


def retry_facts(url: str) -> None:
    """Have the provider asked again now about an address that failed."""
    rows = EmbedFacts.objects.filter(key=key_of(url), state=FactsState.FAILED)
    if rows.update(state=FactsState.PENDING, problem="", attempts=0, due_at=timezone.now()):
        _wake()


def find_facts(urls: Collection[str]) -> dict[str, EmbedFacts]:
    """Return what is stored about addresses, by address, without the thumbnails' bytes. One query."""
    keys = {url: key for url in urls if (key := key_of(url))}
    if not keys:
        return {}
    rows = EmbedFacts.objects.defer("thumbnail").in_bulk([*keys.values()], field_name="key")
    return {url: rows[key] for url, key in keys.items() if key in rows}


def fetch_due_facts() -> int:
    """Ask the providers about addresses that are due, and return their number. Safe to run twice at the same time."""
    due = _claim_due()
    for row in due:
        _fetch(row)
    return len(due)


@transaction.atomic
def _claim_due() -> list[EmbedFacts]:
    now = timezone.now()
    rows = EmbedFacts.objects.select_for_update(skip_locked=True, of=("self",))
    due = list(rows.filter(due_at__lte=now).order_by("due_at")[:ASKED_AT_ONCE])
    EmbedFacts.objects.filter(pk__in=[row.pk for row in due]).update(due_at=now + _CLAIM)
    return due


def _fetch(row: EmbedFacts) -> None:
    provider = find_provider(row.url)
    try:
        if provider is None:
            raise NoFacts("The provider is no longer known.", is_passing=False)
        _keep(row, provider.name, ask_provider(provider, row.url))
    except NoFacts as problem:
        _note_failure(row, problem)


@transaction.atomic
def _keep(row: EmbedFacts, provider: str, facts: Facts) -> None:
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
    _tell_posts(row)


def _note_failure(row: EmbedFacts, problem: NoFacts) -> None:
    is_again = problem.is_passing and row.attempts < len(_PAUSES)
    EmbedFacts.objects.filter(pk=row.pk).update(
        state=FactsState.FAILED,
        problem=str(problem)[:PROBLEM_MAX],
        due_at=timezone.now() + _PAUSES[row.attempts] if is_again else None,
        attempts=row.attempts + 1,
    )


def _tell_posts(row: EmbedFacts) -> None:
    """Drop the cached answers of the posts that embed the address."""
    places = PostModule.objects.filter(instance__type=EMBED, instance__props__url=row.url)
    posts: list[UUID] = sorted(set(places.values_list("post_id", flat=True)))
    if not posts:
        return
    payload: JsonObject = {"url": row.url, "posts": [str(id_) for id_ in posts]}
    tags = [tag_of_post(id_) for id_ in posts]
    outbox.record("embed.changed", actor=_SYSTEM, payload=payload, tags=tags)


def _wake() -> None:
    send_after_commit(lambda: queue_task(TASK), "facts about embeds", once=True)
