"""Walks the chain of the activity log and says what does not fit, in little memory however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from proofroom.core.activity.digests import BEFORE_FIRST, facts_of, link_of, payload_of
from proofroom.core.activity.seal import unsealed_events
from proofroom.core.models import Event, Seal
from proofroom.core.outbox.event_kinds import find_kind

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
