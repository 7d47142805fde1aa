"""Pseudonyms in the activity log: replace the name or the details of entries, and keep the chain verifiable.

The digests of a link were made of the original entry. Each replacement is recorded by an `activity.pseudonymised`
event with the digests of the new entries, which the chain covers in turn. `verify` compares changed entries with
them. Such an event excuses only a pseudonym for a name, and an erased address in a payload.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from proofroom.core import outbox
from proofroom.core.activity.digests import facts_of, payload_of
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event, Seal
from proofroom.core.privacy.person import ERASED, pseudonym_of

PSEUDONYMISED: Final = "activity.pseudonymised"
_BATCH_ROWS: Final = 500


def pseudonymise_events(rows: QuerySet[Event], change: Callable[[Event], None]) -> int:
    """Change `actor_name` or `payload` of these entries. Return their number.

    An entry that does not match its link is changed too, but gets no digest, so that `verify` still reports it.
    """
    count = 0
    with transaction.atomic():
        recorded = recorded_digests()
        for batch in _locked_batches(rows):
            seals = {
                seal.event_id: seal
                for seal in Seal.objects.filter(event_id__in=[event.pk for event in batch])
            }
            changed, whole, masked = list[Event](), list[int](), list[int]()
            for event in batch:
                seal = seals.get(event.pk)
                is_whole = seal is not None and all(compare(event, seal, recorded.get(event.pk)))
                before = event.actor_name, event.payload
                change(event)
                if (event.actor_name, event.payload) == before:
                    continue
                changed.append(event)
                if is_whole:
                    whole.append(event.pk)
                    if event.payload != before[1]:
                        masked.append(event.pk)
            Event.objects.bulk_update(changed, ["actor_name", "payload"])
            # Without the salt, a guess of the original payload cannot be confirmed by hashing it.
            Seal.objects.filter(event_id__in=masked).update(salt="")
            _record(whole)
            count += len(changed)
    return count


def _record(ids: list[int]) -> None:
    # Read again: the digest must be that of the stored values.
    entries: JsonObject = {
        str(event.pk): [digests.facts, digests.payload]
        for event in Event.objects.filter(pk__in=ids)
        for digests in [digests_of(event)]
    }
    if entries:
        system = Actor(user=SYSTEM, via="system")
        outbox.record(PSEUDONYMISED, actor=system, payload={"entries": entries})


def _locked_batches(rows: QuerySet[Event]) -> Iterator[list[Event]]:
    """Yield the rows in the order of their ids, locked as the dispatcher locks them."""
    last = 0
    ordered = rows.select_for_update(no_key=True, of=("self",)).order_by("pk")
    while batch := list(ordered.filter(pk__gt=last)[:_BATCH_ROWS]):
        last = batch[-1].pk
        yield batch


@dataclass(frozen=True, slots=True)
class EntryDigests:
    """The digests of an entry. Its payload may be forgotten later, so both are compared on their own."""

    facts: str
    payload: str


def digests_of(event: Event) -> EntryDigests:
    return EntryDigests(facts_of(event), payload_of(event, ""))


def compare(event: Event, seal: Seal, recorded: EntryDigests | None) -> tuple[bool, bool]:
    """Return whether the facts and the payload match the link, or were pseudonymised as recorded."""
    has_facts = seal.facts == facts_of(event)
    has_payload = event.forgotten_at is not None or seal.payload == payload_of(event, seal.salt)
    # Records of pseudonyms contain neither names nor addresses.
    if recorded is not None and event.name != PSEUDONYMISED and not (has_facts and has_payload):
        now = digests_of(event)
        has_facts |= now.facts == recorded.facts and event.actor_name == pseudonym_of(
            event.actor_id
        )
        has_payload |= now.payload == recorded.payload and _has_mark(event.payload)
    return has_facts, has_payload


def _has_mark(value: Json) -> bool:
    return ERASED in json.dumps(value, ensure_ascii=False)


def recorded_digests(*, only_sealed: bool = False) -> dict[int, EntryDigests]:
    """Return the digests of all entries that were pseudonymised, by id. The latest ones count.

    `only_sealed` leaves out records that no link has, or that differ from their link.
    """
    rows = Event.objects.filter(name=PSEUDONYMISED).order_by("pk")
    if only_sealed:
        seals = {
            seal.event_id: seal for seal in Seal.objects.filter(event_id__in=rows.values("pk"))
        }
        return _digests_in(
            event
            for event in rows
            if event.pk in seals and all(compare(event, seals[event.pk], None))
        )
    return _digests_in(rows)


def _digests_in(events: Iterable[Event]) -> dict[int, EntryDigests]:
    found: dict[int, EntryDigests] = {}
    for event in events:
        entries = event.payload.get("entries")
        for id_, digests in entries.items() if isinstance(entries, Mapping) else ():
            match digests:
                # A changed record may contain anything.
                case [str(facts), str(payload)] if id_.isascii() and id_.isdigit():
                    found[int(id_)] = EntryDigests(facts, payload)
    return found
