"""Pseudonyms in the log excuse the erasure of a person, and no other change."""

from __future__ import annotations

import pytest

from proofroom.core import outbox
from proofroom.core.activity.chain import seal_events
from proofroom.core.activity.pseudonyms import PSEUDONYMISED, digests_of
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import Json
from proofroom.core.models import Event, Seal
from proofroom.core.privacy.person import Person
from tests import make
from tests.activity.chain import findings
from tests.privacy.scene import ANNA, request

pytestmark = pytest.mark.django_db
ZELDA = "zelda@example.com"


def entry(**payload: str) -> Event:
    """Record and seal an entry of Zelda."""
    actor = Actor(user=make.user("editor", "zelda"), via="admin")
    event = outbox.record("agent.switched", actor=actor, payload={"id": "x", **payload})
    seal_events()
    return event


def excuse(event: Event) -> None:
    """Record the present digests of an entry, as an intruder could."""
    event.refresh_from_db()
    digests = digests_of(event)
    outbox.record(
        PSEUDONYMISED,
        actor=Actor(user=SYSTEM, via="system"),
        payload={"entries": {str(event.pk): [digests.facts, digests.payload]}},
    )


def codes() -> set[str]:
    return {code for code, _seq in findings()}


def test_an_erasure_leaves_the_chain_whole() -> None:
    entry(note=f"{ZELDA} and {ANNA}")
    request("erase", ZELDA)
    request("erase", ANNA)
    seal_events()

    assert findings() == []


def test_an_erasure_does_not_hide_an_earlier_change() -> None:
    event = entry(note=f"Ask {ZELDA}")
    salt = Seal.objects.get(event_id=event.pk).salt
    Event.objects.filter(pk=event.pk).update(payload={"id": "y", "note": f"Ask {ZELDA}"})

    request("erase", ZELDA)
    seal_events()

    event.refresh_from_db()
    assert event.payload == {"id": "y", "note": "Ask [erased]"}
    assert event.actor_name.startswith("Former member")
    assert codes() == {"changed_facts", "changed_payload"}
    assert Seal.objects.get(event_id=event.pk).salt == salt


def test_a_second_erasure_does_not_hide_a_change_after_the_first() -> None:
    event = entry(note=f"Ask {ANNA}")
    request("erase", ANNA)
    seal_events()
    Event.objects.filter(pk=event.pk).update(payload={"id": "y", "note": "Ask [erased]"})

    request("erase", ZELDA)
    seal_events()

    assert "changed_payload" in codes()


def test_a_name_can_only_become_the_pseudonym() -> None:
    event = entry()
    Event.objects.filter(pk=event.pk).update(actor_name="admin")
    excuse(event)
    seal_events()

    assert codes() == {"changed_facts"}


def test_a_new_name_does_not_excuse_another_payload() -> None:
    event = entry()
    request("erase", ZELDA)
    seal_events()
    Event.objects.filter(pk=event.pk).update(payload={"id": "y"})
    excuse(event)
    seal_events()

    assert codes() == {"changed_payload"}


def test_a_record_of_pseudonyms_is_never_excused() -> None:
    entry(note=ANNA)
    request("erase", ANNA)
    seal_events()
    record = Event.objects.get(name=PSEUDONYMISED)
    Event.objects.filter(pk=record.pk).update(payload={**record.payload, "x": "[erased]"})
    excuse(record)
    seal_events()

    assert "changed_payload" in codes()


def test_a_record_without_a_link_excuses_nothing() -> None:
    event = entry(note=ANNA)
    Event.objects.filter(pk=event.pk).update(payload=Person(ANNA).mask(event.payload))
    excuse(event)

    assert codes() == {"changed_payload"}


def test_a_broken_record_excuses_nothing() -> None:
    event = entry()
    Event.objects.filter(pk=event.pk).update(payload={"id": "[erased]"})
    broken: list[Json] = [[], {"x": ["a", "b"]}, {str(event.pk): "ab"}, {str(event.pk): [1, None]}]
    for entries in broken:
        outbox.record(
            PSEUDONYMISED,
            actor=Actor(user=SYSTEM, via="system"),
            payload={"entries": entries},
        )
    seal_events()

    assert codes() == {"changed_payload"}
