"""The chain of the activity log: events are sealed into it in order of id, verified link by link, and pruned.

An event that commits late comes later in the chain. Pruning takes old entries from the beginning of the chain; what
is left begins at a later link, and an event says so.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event, Seal
from proofroom.core.outbox.events import find_kind

BEFORE_FIRST: Final = "0" * 64
"""What stands for the link before the first one."""


def facts_of(event: Event) -> str:
    """The digest of everything about an event that never changes, but its payload."""
    return _sha256(
        _canonical(
            {
                "id": event.pk,
                "uid": str(event.uid),
                "name": event.name,
                "version": event.version,
                "post_id": str(event.post_id) if event.post_id else None,
                "actor_id": event.actor_id,
                "actor_name": event.actor_name,
                "via": event.via,
                "credential": event.credential,
                "agent_id": event.agent_id,
                "run_id": event.run_id,
                "cause_id": event.cause_id,
                "hop": event.hop,
                "created_at": event.created_at.astimezone(UTC).isoformat(timespec="microseconds"),
            }
        )
    )


def payload_of(event: Event, salt: str) -> str:
    """The digest of the payload as the database gives it back."""
    return _sha256(salt + _canonical(event.payload))


def link_of(seq: int, before: str, facts: str, payload: str) -> str:
    """The hash of a link."""
    return _sha256(f"{seq}\n{before}\n{facts}\n{payload}")


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


SEAL_BATCH_SIZE: Final = 1_000


def seal_events() -> int:
    """Seal what waits. Answers how many events; where another process seals at the same time, it goes on instead."""
    total = 0
    while unsealed_events().exists():
        count = _seal_batch()
        total += count
        if count < SEAL_BATCH_SIZE:
            break
    return total


def unsealed_events() -> QuerySet[Event]:
    """Events that the chain does not have yet."""
    linked = Exists(Seal.objects.filter(event_id=OuterRef("pk")))
    return Event.objects.filter(~linked, is_sealed=False)


def oldest_unsealed_at() -> datetime | None:
    """Return when the event was recorded that waits longest to be sealed."""
    return unsealed_events().order_by("id").values_list("created_at", flat=True).first()


def drop_salts(event_ids: list[int]) -> None:
    """Without its salt the digest of a payload tells nothing of the words that were in it."""
    Seal.objects.filter(event_id__in=event_ids).update(salt="")


def _seal_batch() -> int:
    try:
        with transaction.atomic():
            # One sealer at a time. The first link has nothing before it to wait at: there its number decides.
            Seal.objects.select_for_update().order_by("-seq").first()
            last = Seal.objects.order_by("-seq").first()
            # An event that is being told or forgotten comes with the next batch.
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
UNSEALED_AT_MOST: Final = timedelta(minutes=10)
PRUNED: Final = "activity.pruned"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """Something that does not fit: at which link, about which event."""

    code: str
    sentence: str
    seq: int | None = None
    event_id: int | None = None


@dataclass(slots=True)
class Verification:
    """The result of a walk. `begin` is the first link that is kept, `head` the last one, as `seq:hash`."""

    links: int = 0
    begin: int = 0
    head: str = ""
    forgotten: int = 0
    findings: list[ChainFault] = field(default_factory=list)
    left_out: int = 0
    """Findings beyond the most that are listed."""

    @property
    def is_whole(self) -> bool:
        return not self.findings

    def add(self, finding: ChainFault) -> None:
        if len(self.findings) < MAX_FAULTS:
            self.findings.append(finding)
        else:
            self.left_out += 1


def read_head(text: str) -> tuple[int, str]:
    """The two parts of `seq:hash`. Raises `ValueError`."""
    seq, _, digest = text.strip().partition(":")
    is_number = seq.isascii() and seq.isdigit() and 0 < len(seq) <= 18
    if not is_number or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ValueError("a head is a number and 64 hexadecimal digits, as in 12:0a1b…")
    return int(seq), digest


def verify(head: tuple[int, str] | None = None) -> Verification:
    """Walk the whole chain. `head` is a link that was written down elsewhere before."""
    walk = _Walk(head)
    while batch := list(Seal.objects.filter(seq__gt=walk.seq).order_by("seq")[:VERIFY_BATCH_SIZE]):
        events = Event.objects.in_bulk([seal.event_id for seal in batch])
        for seal in batch:
            walk.step(seal, events.get(seal.event_id))
    walk.end()
    for finding in _beside_the_chain():
        walk.found.add(finding)
    return walk.found


class _Walk:
    """The state of the walk: the last link, and what was found so far."""

    def __init__(self, head: tuple[int, str] | None) -> None:
        self.seq, self.hash = 0, BEFORE_FIRST
        self.head = head
        self.is_begun_by_pruning = True
        self.begun_after = (0, BEFORE_FIRST)
        self.found = Verification()

    def step(self, seal: Seal, event: Event | None) -> None:
        if not self.found.links or self._is_pruned_meanwhile(seal):
            self._begin(seal)
        self._look_at_link(seal)
        if event is not None:
            self._look_at_event(seal, event)
        elif Seal.objects.filter(pk=seal.pk).exists():  # else both were pruned meanwhile
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

    def _is_pruned_meanwhile(self, seal: Seal) -> bool:
        return seal.seq > self.seq + 1 and not Seal.objects.filter(seq__lt=seal.seq).exists()

    def _begin(self, seal: Seal) -> None:
        """The chain may begin later than at 1 where the links before were pruned, which is an event further on."""
        self.found.begin = seal.seq
        self.begun_after = (seal.seq - 1, seal.before)
        self.is_begun_by_pruning = self.begun_after == (0, BEFORE_FIRST)
        self.seq, self.hash = self.begun_after

    def _look_at_link(self, seal: Seal) -> None:
        if seal.seq != self.seq + 1:
            lost = f"{self.seq + 1} to {seal.seq - 1}" if seal.seq > self.seq + 2 else self.seq + 1
            self._add("missing_link", f"Before this link {lost} is missing.", seal)
        elif seal.before != self.hash:
            self._add("broken_link", "This link does not follow the one before it.", seal)
        if seal.hash != link_of(seal.seq, seal.before, seal.facts, seal.payload):
            self._add("changed_link", "This link was changed.", seal)

    def _look_at_event(self, seal: Seal, event: Event) -> None:
        if seal.facts != facts_of(event):
            self._add("changed_facts", "Who did what, when or how was changed.", seal)
        if event.forgotten_at is not None:
            self._look_at_forgotten(seal, event)
        elif seal.payload != payload_of(event, seal.salt):
            self._add("changed_payload", "What the event says was changed.", seal)
        elif event.name == PRUNED:
            told = (event.payload.get("to"), event.payload.get("hash"))
            self.is_begun_by_pruning |= told == self.begun_after
        if not event.is_sealed:
            self._add("marked_unsealed", "The event is marked as if no link had it.", seal)

    def _look_at_forgotten(self, seal: Seal, event: Event) -> None:
        self.found.forgotten += 1
        kind = find_kind(event.name)
        if event.payload != {}:
            self._add("changed_payload", "The event was forgotten, and says something.", seal)
        elif kind is not None and not kind.is_private:
            self._add("wrongly_forgotten", "Events of this kind are never forgotten.", seal)

    def _add(self, code: str, sentence: str, seal: Seal) -> None:
        self.found.add(ChainFault(code, sentence, seq=seal.seq, event_id=seal.event_id))


def _beside_the_chain() -> Iterator[ChainFault]:
    """Events that no link has, though one should."""
    linked = Exists(Seal.objects.filter(event_id=OuterRef("pk")))
    for id_ in _first_ids(Event.objects.filter(~linked, is_sealed=True)):
        yield ChainFault(
            "unlinked", "The event is marked sealed, and no link has it.", event_id=id_
        )
    for id_ in _first_ids(
        unsealed_events().filter(created_at__lt=timezone.now() - UNSEALED_AT_MOST)
    ):
        yield ChainFault("unsealed", "The event waits too long to be sealed.", event_id=id_)


def _first_ids(events: QuerySet[Event]) -> Iterable[int]:
    return events.order_by("id").values_list("id", flat=True)[: MAX_FAULTS + 1]


PRUNE_BATCH_SIZE: Final = 5_000


def prune(*, days: int) -> int:
    """Delete sealed entries of more than that many days ago. Answers how many; 0 days keep everything."""
    if days <= 0:
        return 0
    before = timezone.now() - timedelta(days=days)
    total = 0
    while count := _prune_batch(before):
        total += count
    return total


@transaction.atomic
def _prune_batch(before: datetime) -> int:
    """The newest link always stays: the next one follows it."""
    newest = Seal.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    oldest = (
        Seal.objects.select_for_update().filter(seq__lt=newest).order_by("seq")[:PRUNE_BATCH_SIZE]
    )
    links = list(oldest)
    # The entries that are there; None for one that somebody else holds, who may wait for its link.
    ids = [seal.event_id for seal in links]
    found: dict[int, Event | None] = dict.fromkeys(
        Event.objects.filter(pk__in=ids).values_list("pk", flat=True)
    )
    free = Event.objects.select_for_update(skip_locked=True, no_key=True).filter(pk__in=ids)
    entries = found | {event.pk: event for event in free}
    old = list(takewhile(lambda seal: _is_over(seal, entries, before), links))
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


def _is_over(seal: Seal, entries: Mapping[int, Event | None], before: datetime) -> bool:
    """Return whether the entry is old, and nobody still has to be told of it."""
    if seal.event_id not in entries:
        # Somebody deleted it, which is to be found for as long as the link would have stayed.
        return seal.made_at < before
    event = entries[seal.event_id]
    if event is None:
        return False
    is_told = event.dispatched_at is not None or event.attempts >= outbox.MAX_ATTEMPTS
    return is_told and event.created_at < before
