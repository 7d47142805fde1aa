"""Request facts about embedded addresses from their providers, and find stored facts. A task sends the requests."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Final

from django.utils import timezone

from content.document.contents import outside_url
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom_apps.embeds.models import EmbedFacts, FactsState
from proofroom_apps.embeds.providers import find_provider

TASK: Final = "embeds.tasks.fetch_due_facts"


def key_of(url: str) -> str:
    """Return the key of an address, without its fragment; "" if it is no address of another site."""
    bare = outside_url(url)
    return hashlib.sha256(bare.encode()).hexdigest() if bare else ""


def request_facts(urls: Iterable[str]) -> None:
    """Request facts about addresses without any. Addresses of unknown sites are ignored."""
    wanted = {key: url for url in urls if find_provider(url) and (key := key_of(url))}
    if not wanted:
        return
    known = set(EmbedFacts.objects.filter(key__in=wanted).values_list("key", flat=True))
    rows = [
        EmbedFacts(key=key, url=outside_url(url)) for key, url in wanted.items() if key not in known
    ]
    if rows:
        EmbedFacts.objects.bulk_create(rows, ignore_conflicts=True)
        _wake_task()


def retry_facts(url: str) -> None:
    """Request facts about an address again, if the last request failed."""
    rows = EmbedFacts.objects.filter(key=key_of(url), state=FactsState.FAILED)
    if rows.update(state=FactsState.PENDING, problem="", attempts=0, due_at=timezone.now()):
        _wake_task()


def find_facts(urls: Collection[str]) -> dict[str, EmbedFacts]:
    """Return the stored facts about addresses, by address, without the bytes of thumbnails. One query."""
    keys = {url: key for url in urls if (key := key_of(url))}
    if not keys:
        return {}
    rows = EmbedFacts.objects.defer("thumbnail").in_bulk([*keys.values()], field_name="key")
    return {url: rows[key] for url, key in keys.items() if key in rows}


def _wake_task() -> None:
    send_after_commit(lambda: queue_task(TASK), "facts about embeds", once=True)
