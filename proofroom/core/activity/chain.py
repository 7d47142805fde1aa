"""The hash chain of the activity log: seal events in the order of their ids, verify each link, prune old entries.

An event that commits late is sealed later in the chain. Pruning removes entries from the beginning of the chain; the
remaining chain starts at a later link, and an `activity.pruned` event records this.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.activity.digests import facts_of, link_of, payload_of
from proofroom.core.activity.pseudonyms import EntryDigests, compare, recorded_digests
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import JsonObject
from proofroom.core.models import Event, Seal
from proofroom.core.outbox.events import find_kind

BEFORE_FIRST: Final = "0" * 64
"""The previous hash of the first link."""


SEAL_BATCH_SIZE: Final = 1_000


def seal_events() -> int:
    """Seal all unsealed events and return their number. Stops early if another process is sealing."""
    total = 0
    while unsealed_events().exists():
        count = _seal_batch()
        total += count
        # Nothing is left, or another process is sealing.
        if count < SEAL_BATCH_SIZE:
            break
    return total


def unsealed_events() -> QuerySet[Event]:
    """Return the events without a link in the chain."""
    linked = Exists(Seal.objects.filter(event_id=OuterRef("pk")))
    return Event.objects.filter(~linked, is_sealed=False)


def oldest_unsealed_at() -> datetime | None:
    """Return the creation time of the oldest unsealed event."""
    return unsealed_events().order_by("id").values_list("created_at", flat=True).first()


def drop_salts(event_ids: list[int]) -> None:
    """Delete the salts of the links of forgotten events."""
    # Without the salt, a guess of the forgotten text cannot be confirmed by hashing it.
    Seal.objects.filter(event_id__in=event_ids).update(salt="")


def _seal_batch() -> int:
    try:
        with transaction.atomic():
            # The lock on the last link lets one process seal at a time. It does not help while the
            # chain is empty: then two processes insert the same `seq`, and the primary key refuses
            # one of them (the IntegrityError below).
            Seal.objects.select_for_update().order_by("-seq").first()
            # Read it again: another process may have added links while this one waited for the
            # lock.
            last = Seal.objects.order_by("-seq").first()
            # An event whose row the dispatcher or `forget` has locked is sealed in the next
            # batch.
            waiting = unsealed_events().select_for_update(
                skip_locked=True, of=("self",), no_key=True
            )
            batch = list(waiting.order_by("id")[:SEAL_BATCH_SIZE])
            seq, before = (last.seq, last.hash) if last is not None else (0, BEFORE_FIRST)
            now = timezone.now()
            links = []
            for event in batch:
                seq += 1
                salt = secrets.token_hex(16)
                facts, payload = facts_of(event), payload_of(event, salt)
                seal = Seal(
                    seq=seq,
                    event_id=event.pk,
                    facts=facts,
                    payload=payload,
                    salt=salt,
                    before=before,
                    hash=link_of(seq, before, facts, payload),
                    made_at=now,
                )
                links.append(seal)
                before = seal.hash
            Seal.objects.bulk_create(links)
            Event.objects.filter(pk__in=[event.pk for event in batch]).update(is_sealed=True)
    except IntegrityError:
        return 0
    return len(batch)


VERIFY_BATCH_SIZE: Final = 1_000
MAX_FAULTS: Final = 100
MAX_UNSEALED_AGE: Final = timedelta(minutes=10)
PRUNED: Final = "activity.pruned"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A broken rule of the chain, with the link and the event where it was found."""

    code: str
    sentence: str
    seq: int | None = None
    event_id: int | None = None


@dataclass(slots=True)
class Verification:
    """The result of a verification. `begin` is the first stored link, `head` the last one, as `seq:hash`."""

    links: int = 0
    begin: int = 0
    head: str = ""
    forgotten: int = 0
    pseudonymised: int = 0
    findings: list[ChainFault] = field(default_factory=list)
    left_out: int = 0
    """Number of findings beyond `MAX_FAULTS`."""

    @property
    def is_whole(self) -> bool:
        return not self.findings

    def add(self, finding: ChainFault) -> None:
        if len(self.findings) < MAX_FAULTS:
            self.findings.append(finding)
        else:
            self.left_out += 1


def read_head(text: str) -> tuple[int, str]:
    """Parse `seq:hash`. Raises `ValueError`."""
    seq, _, digest = text.strip().partition(":")
    is_number = seq.isascii() and seq.isdigit() and 0 < len(seq) <= 18
    if not is_number or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ValueError("a head is a number and 64 hexadecimal digits, as in 12:0a1b…")
    return int(seq), digest


def verify(head: tuple[int, str] | None = None) -> Verification:
    """Verify the whole chain. `head` is a link that the caller saved outside of the database before."""
    walk = _Walk(head)
    while batch := list(Seal.objects.filter(seq__gt=walk.seq).order_by("seq")[:VERIFY_BATCH_SIZE]):
        events = Event.objects.in_bulk([seal.event_id for seal in batch])
        for seal in batch:
            walk.step(seal, events.get(seal.event_id))
    walk.end()
    for finding in _unlinked_events():
        walk.found.add(finding)
    return walk.found


class _Walk:
    """The state of a verification: the last link and the findings so far."""

    def __init__(self, head: tuple[int, str] | None) -> None:
        self.seq, self.hash = 0, BEFORE_FIRST
        self.head = head
        self.is_begun_by_pruning = True
        self.begun_after = (0, BEFORE_FIRST)
        self.found = Verification()
        self.pseudonymised: dict[int, EntryDigests] | None = None

    def step(self, seal: Seal, event: Event | None) -> None:
        if not self.found.links or self._was_pruned_since(seal):
            self._start_at(seal)
        self._check_link(seal)
        if event is not None:
            self._check_event(seal, event)
        # Otherwise the event and its link were pruned after this batch was read.
        elif Seal.objects.filter(pk=seal.pk).exists():
            self._add("deleted", "The event of this link was deleted.", seal)
        if self.head is not None and self.head[0] == seal.seq and self.head[1] != seal.hash:
            self._add("wrong_head", "This link has another hash than the given head.", seal)
        self.seq, self.hash = seal.seq, seal.hash
        self.found.links += 1
        self.found.head = f"{seal.seq}:{seal.hash}"

    def end(self) -> None:
        if not self.is_begun_by_pruning:
            sentence = f"The links before {self.found.begin} were removed, and no event says so."
            self.found.add(ChainFault("removed_beginning", sentence, seq=self.found.begin))
        if self.head is None:
            return
        if self.head[0] > self.seq:
            sentence = f"The chain ends at {self.seq}, before the given head."
            self.found.add(ChainFault("truncated", sentence, seq=self.head[0]))
        elif self.head[0] < self.found.begin:
            sentence = "The given head is older than the chain that is kept."
            self.found.add(ChainFault("head_too_old", sentence, seq=self.head[0]))

    def _was_pruned_since(self, seal: Seal) -> bool:
        # Pruning may remove the next links between two batches of this walk. Then no earlier link
        # is left.
        return seal.seq > self.seq + 1 and not Seal.objects.filter(seq__lt=seal.seq).exists()

    def _start_at(self, seal: Seal) -> None:
        """Start the walk at a link. A start after 1 is valid only if a later `activity.pruned` event confirms it."""
        self.found.begin = seal.seq
        self.begun_after = (seal.seq - 1, seal.before)
        self.is_begun_by_pruning = self.begun_after == (0, BEFORE_FIRST)
        self.seq, self.hash = self.begun_after

    def _check_link(self, seal: Seal) -> None:
        if seal.seq != self.seq + 1:
            missing = (
                f"{self.seq + 1} to {seal.seq - 1}" if seal.seq > self.seq + 2 else self.seq + 1
            )
            self._add("missing_link", f"Before this link {missing} is missing.", seal)
        elif seal.before != self.hash:
            self._add("broken_link", "This link does not follow the one before it.", seal)
        if seal.hash != link_of(seal.seq, seal.before, seal.facts, seal.payload):
            self._add("changed_link", "This link was changed.", seal)

    def _check_event(self, seal: Seal, event: Event) -> None:
        has_facts, has_payload = compare(event, seal, None)
        if not (has_facts and has_payload) and (recorded := self._recorded_digests(event)):
            self.found.pseudonymised += 1
            has_facts, has_payload = compare(event, seal, recorded)
        if not has_facts:
            self._add("changed_facts", "Who did what, when or how was changed.", seal)
        if event.forgotten_at is not None:
            self._check_forgotten(seal, event)
        elif not has_payload:
            self._add("changed_payload", "What the event says was changed.", seal)
        elif event.name == PRUNED:
            pruned_to = (event.payload.get("to"), event.payload.get("hash"))
            # Each pruned batch has an event. One of them must name exactly the link before the
            # start.
            self.is_begun_by_pruning |= pruned_to == self.begun_after
        if not event.is_sealed:
            self._add("marked_unsealed", "The event is marked as if no link had it.", seal)

    def _recorded_digests(self, event: Event) -> EntryDigests | None:
        """Return the digests of an entry that was pseudonymised; None for any other."""
        if self.pseudonymised is None:
            self.pseudonymised = recorded_digests(only_sealed=True)
        return self.pseudonymised.get(event.pk)

    def _check_forgotten(self, seal: Seal, event: Event) -> None:
        self.found.forgotten += 1
        kind = find_kind(event.name)
        if event.payload != {}:
            self._add("changed_payload", "The event was forgotten, and says something.", seal)
        elif kind is not None and not kind.is_private:
            self._add("wrongly_forgotten", "Events of this kind are never forgotten.", seal)

    def _add(self, code: str, sentence: str, seal: Seal) -> None:
        self.found.add(ChainFault(code, sentence, seq=seal.seq, event_id=seal.event_id))


def _unlinked_events() -> Iterator[ChainFault]:
    """Yield events that should have a link but have none."""
    linked = Exists(Seal.objects.filter(event_id=OuterRef("pk")))
    for id_ in _first_ids(Event.objects.filter(~linked, is_sealed=True)):
        yield ChainFault(
            "unlinked", "The event is marked sealed, and no link has it.", event_id=id_
        )
    for id_ in _first_ids(
        unsealed_events().filter(created_at__lt=timezone.now() - MAX_UNSEALED_AGE)
    ):
        yield ChainFault("unsealed", "The event waits too long to be sealed.", event_id=id_)


def _first_ids(events: QuerySet[Event]) -> Iterable[int]:
    return events.order_by("id").values_list("id", flat=True)[: MAX_FAULTS + 1]


PRUNE_BATCH_SIZE: Final = 5_000


def prune(*, days: int) -> int:
    """Delete sealed entries older than `days` and return their number. 0 keeps everything."""
    if days <= 0:
        return 0
    before = timezone.now() - timedelta(days=days)
    total = 0
    while count := _prune_batch(before):
        total += count
    return total


@transaction.atomic
def _prune_batch(before: datetime) -> int:
    """Delete one batch of the oldest links and their events."""
    # The newest link always stays: the next link needs its number and its hash.
    newest = Seal.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    oldest = (
        Seal.objects.select_for_update().filter(seq__lt=newest).order_by("seq")[:PRUNE_BATCH_SIZE]
    )
    links = list(oldest)
    # Existing entries by id; None for an entry that another transaction has locked. Waiting for it
    # could deadlock, because that transaction may wait for its link.
    ids = [seal.event_id for seal in links]
    found: dict[int, Event | None] = dict.fromkeys(
        Event.objects.filter(pk__in=ids).values_list("pk", flat=True)
    )
    free = Event.objects.select_for_update(skip_locked=True, no_key=True).filter(pk__in=ids)
    entries = found | {event.pk: event for event in free}
    # Only a prefix of the chain may go: the first link that must stay ends the batch.
    old = list(takewhile(lambda seal: _is_prunable(seal, entries, before), links))
    if not old:
        return 0
    Event.objects.filter(pk__in=[seal.event_id for seal in old]).delete()
    Seal.objects.filter(seq__gte=old[0].seq, seq__lte=old[-1].seq).delete()
    payload: JsonObject = {
        "from": old[0].seq,
        "to": old[-1].seq,
        "hash": old[-1].hash,
        "before": before.isoformat(),
    }
    system = Actor(user=SYSTEM, via="system")
    outbox.record(PRUNED, actor=system, payload=payload)
    return len(old)


def _is_prunable(seal: Seal, entries: Mapping[int, Event | None], before: datetime) -> bool:
    """Return True if the entry is older than `before` and no subscriber still waits for it."""
    if seal.event_id not in entries:
        # The event is missing. Keep its link until the end of the retention, so that `verify`
        # reports the deletion.
        return seal.made_at < before
    event = entries[seal.event_id]
    if event is None:
        return False
    is_delivered = event.dispatched_at is not None or event.attempts >= outbox.MAX_ATTEMPTS
    return is_delivered and event.created_at < before
