"""Addresses of other sites that live content links to: which are due, how they are checked, which are dead.

A scheduled task checks them through the HTTP client with its address guard: `HEAD`, and `GET` where that fails. No
request of a user ever waits for another site.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.contents import outside_url, read_contents
from content.document.document import PostDocument
from content.models import CheckedAddress, ContentLink
from content.post_checks.live_links import live_links
from content.store.content_links import url_key
from proofroom.core.http_client import CallRefused, Client, HttpResult, Unreachable

CHECKED_AT_ONCE: Final = 60
"""Maximum number of addresses that one call checks."""
PER_HOST: Final = 5
"""Maximum number of addresses of one host that one call checks, one after the other."""
HOST_PAUSE_SECONDS: Final = 2.0
"""Pause between two calls of the same host."""
_HOSTS_AT_ONCE: Final = 8
_CALL_SECONDS: Final = 10.0
_TOTAL_SECONDS: Final = 25.0
_MAX_BYTES: Final = 4 * 1024
_NEW_AT_ONCE: Final = 500
_EXAMPLES: Final = frozenset({"example", "test", "invalid", "localhost"})
"""Top-level domains that no site has (RFC 2606). Texts use them as examples, as example.com."""
_NEVER: Final = timedelta(days=36_500)
_CLAIM: Final = timedelta(minutes=15)
"""Time after which an address that a killed worker had claimed is due again."""
_GONE: Final = frozenset({404, 410})
"""Statuses that say that nothing is there."""
_REFUSES_PROGRAMS: Final = frozenset({401, 402, 403, 406, 407, 418, 429, 451, 999})
"""Statuses with which sites refuse programs or visitors without an account. A person may see the page."""
FAILURES_UNTIL_DEAD: Final = 3
"""Number of failed checks in a row, except for the statuses in `_GONE`, until an address counts as dead."""
_AGAIN_AFTER_FAILURE: Final = timedelta(hours=6)
_AGAIN_AFTER_GONE: Final = timedelta(days=1)
_AGAIN_AFTER_SUCCESS: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class AddressAnswer:
    """The answer of a check. `status` is None without an answer; `problem` then says why."""

    status: int | None
    problem: str = ""
    is_refused: bool = False
    """True if the address guard forbids the call, so that nothing is known about the address."""


def is_dead(address: CheckedAddress) -> bool:
    """Return whether an address counts as broken: gone, or without an answer several times in a row."""
    return address.status in _GONE or address.failures >= FAILURES_UNTIL_DEAD


def failure_text(address: CheckedAddress, href: str) -> str:
    """Return why an address counts as dead. `href`: the address as stored."""
    if address.status is None:
        return _("%(href)s cannot be reached.") % {"href": href}
    return _("%(href)s answers with status %(status)s.") % {"href": href, "status": address.status}


def count_unchecked(document: PostDocument) -> int:
    """Return the number of addresses of other sites in a document that were never checked. One query."""
    urls = {url for link in read_contents(document).links if (url := outside_url(link.href))}
    if not urls:
        return 0
    urls = {url for url in urls if not _is_example(urlsplit(url).hostname or "")}
    checked = CheckedAddress.objects.filter(checked_at__isnull=False)
    return len(urls) - checked.filter(key__in=list(map(url_key, urls))).count()


def check_due_addresses() -> int:
    """Check addresses that are due, and return their number. Safe to run twice at the same time."""
    add_new_addresses()
    due = _claim_due()
    if not due:
        return 0
    answers = asyncio.run(_check_all([row.url for row in due]))
    now = timezone.now()
    checked = [row for row in due if row.url in answers]
    for row in checked:
        _note(row, answers[row.url], now)
    CheckedAddress.objects.bulk_update(
        checked, ["status", "problem", "failures", "checked_at", "due_at"]
    )
    # Hosts with many addresses: the others are due again at once.
    left = [row.key for row in due if row.url not in answers]
    CheckedAddress.objects.filter(key__in=left).update(due_at=now)
    return len(checked)


def add_new_addresses() -> int:
    """Add addresses that live content links to and that were never checked. Returns their number."""
    known = CheckedAddress.objects.filter(key=OuterRef("key"))
    rows = live_links().filter(~Exists(known), kind=ContentLink.Kind.URL)
    found: dict[str, CheckedAddress] = {}
    now = timezone.now()
    for key, href in rows.order_by("key").values_list("key", "href")[:_NEW_AT_ONCE]:
        url = outside_url(href)
        host = (urlsplit(url).hostname or "")[:255] if url else ""
        # Never due: examples, and links of an earlier setting of the site's own address.
        due_at = now + _NEVER if not url or _is_example(host) else now
        found.setdefault(key, CheckedAddress(key=key, url=url, host=host, due_at=due_at))
    CheckedAddress.objects.bulk_create(found.values(), ignore_conflicts=True)
    return len(found)


def _is_example(host: str) -> bool:
    """Return whether a host is reserved for examples."""
    labels = host.lower().rstrip(".").split(".")
    is_reserved = (
        len(labels) > 1 and labels[-2] == "example" and labels[-1] in ("com", "net", "org")
    )
    return labels[-1] in _EXAMPLES or is_reserved


def forget_unlinked_addresses() -> int:
    """Delete addresses that no content links to any more. Returns their number."""
    linked = ContentLink.objects.filter(key=OuterRef("key"))
    count, _by_model = CheckedAddress.objects.filter(~Exists(linked)).delete()
    return count


@transaction.atomic
def _claim_due() -> list[CheckedAddress]:
    now = timezone.now()
    rows = CheckedAddress.objects.select_for_update(skip_locked=True, of=("self",))
    due = list(rows.filter(due_at__lte=now).order_by("due_at")[:CHECKED_AT_ONCE])
    CheckedAddress.objects.filter(key__in=[row.key for row in due]).update(due_at=now + _CLAIM)
    return due


def _note(row: CheckedAddress, answer: AddressAnswer, now: datetime) -> None:
    row.status, row.problem, row.checked_at = answer.status, answer.problem[:300], now
    if answer.is_refused or _is_alive(answer.status):
        row.failures = 0
        row.due_at = now + _AGAIN_AFTER_SUCCESS + _spread(row.key)
    else:
        row.failures = min(row.failures + 1, 30_000)
        again = _AGAIN_AFTER_GONE if is_dead(row) else _AGAIN_AFTER_FAILURE
        row.due_at = now + again + _spread(row.key) / 7


def _is_alive(status: int | None) -> bool:
    return status is not None and (status < 400 or status in _REFUSES_PROGRAMS)


def _spread(key: str) -> timedelta:
    """Return up to a day, different for each address, so that not all are due at the same time."""
    share = int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
    return timedelta(seconds=86_400 * share)


async def _check_all(urls: Sequence[str]) -> Mapping[str, AddressAnswer]:
    """Check addresses: several hosts at the same time, the addresses of one host in turn."""
    by_host: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        by_host[(urlsplit(url).hostname or "").lower()].append(url)
    answers: dict[str, AddressAnswer] = {}
    until = time.monotonic() + _TOTAL_SECONDS
    limit = asyncio.Semaphore(_HOSTS_AT_ONCE)
    async with Client() as client:
        await asyncio.gather(
            *(
                _check_host(client, each[:PER_HOST], answers, until=until, limit=limit)
                for each in by_host.values()
            )
        )
    return answers


async def _check_host(
    client: Client,
    urls: Iterable[str],
    answers: dict[str, AddressAnswer],
    *,
    until: float,
    limit: asyncio.Semaphore,
) -> None:
    async with limit:
        for place, url in enumerate(urls):
            if place:
                await asyncio.sleep(HOST_PAUSE_SECONDS)
            if time.monotonic() > until:
                return
            answers[url] = await _check(client, url)


async def _check(client: Client, url: str) -> AddressAnswer:
    answer = await _call(client, "HEAD", url)
    is_done = answer.is_refused or answer.status == 429
    if is_done or (answer.status is not None and answer.status < 400):
        return answer
    # Some servers answer HEAD with an error, or not at all.
    await asyncio.sleep(HOST_PAUSE_SECONDS / 2)
    return await _call(client, "GET", url)


async def _call(client: Client, method: str, url: str) -> AddressAnswer:
    try:
        result: HttpResult = await client.send(
            method, url, headers={"Accept": "*/*"}, seconds=_CALL_SECONDS, max_bytes=_MAX_BYTES
        )
    except CallRefused as refused:
        return AddressAnswer(None, refused.reason, is_refused=True)
    except Unreachable as error:
        return AddressAnswer(None, str(error))
    return AddressAnswer(result.status)
