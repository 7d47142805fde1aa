"""The chain of the activity log: its ends, and pruning."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.activity.chain import facts_of, prune, seal_events, verify
from proofroom.core.models import Event, Seal
from tests.activity.chain import findings, sealed

pytestmark = pytest.mark.django_db


def test_a_cut_off_end_is_seen_with_a_head_that_was_written_down() -> None:
    made = sealed(5)
    head = verify().head
    seven = Seal.objects.get(seq=5)
    assert head == f"5:{seven.hash}"
    assert findings(head) == []
    Seal.objects.filter(seq__gt=3).delete()
    Event.objects.filter(pk__in=[event.pk for event in made[3:]]).delete()

    assert findings() == []  # nothing in the database tells
    assert findings(head) == [("truncated", 5)]

    sealed(2)
    assert findings(head) == [("wrong_head", 5)]


def test_a_cut_off_beginning_is_seen() -> None:
    made = sealed(5)
    Seal.objects.filter(seq__lt=3).delete()
    Event.objects.filter(pk__in=[event.pk for event in made[:2]]).delete()

    assert findings() == [("removed_beginning", 3)]


def test_old_entries_are_pruned_and_the_chain_begins_later() -> None:
    old, new = sealed(4), sealed(3)
    Event.objects.filter(pk__in=[event.pk for event in old]).update(
        created_at=timezone.now() - timedelta(days=40)
    )
    hash_of_last = Seal.objects.get(seq=4).hash
    for event in Event.objects.filter(pk__in=[event.pk for event in old]):  # sealed as old ones
        Seal.objects.filter(event=event).update(facts=facts_of(event))

    assert prune(days=0) == 0
    assert prune(days=30) == 4
    assert prune(days=30) == 0

    seal_events()
    told = Event.objects.get(name="activity.pruned")
    assert (told.via, told.actor_id, told.actor_name) == ("system", None, "system")
    assert {name: told.payload[name] for name in ("from", "to", "hash")} == {
        "from": 1,
        "to": 4,
        "hash": hash_of_last,
    }
    found = verify()
    assert (found.begin, found.links, found.findings) == (5, 4, [])
    assert list(Event.objects.order_by("id").values_list("id", flat=True))[:3] == [
        event.pk for event in new
    ]
    assert findings(f"2:{'a' * 64}") == [("head_too_old", 2)]


def test_pruning_stops_at_what_somebody_still_has_to_be_told_and_keeps_the_last_link() -> None:
    made = sealed(5)
    Event.objects.update(created_at=timezone.now() - timedelta(days=40))
    Event.objects.filter(pk=made[2].pk).update(dispatched_at=None)

    assert prune(days=30) == 2
    Event.objects.filter(pk=made[2].pk).update(attempts=outbox.MAX_ATTEMPTS)
    assert prune(days=30) == 2

    assert list(Seal.objects.values_list("seq", flat=True)) == [5]


def test_pruning_leaves_links_whose_entries_were_deleted_to_be_found() -> None:
    made = sealed(4)
    Event.objects.filter(pk__in=[made[0].pk, made[1].pk]).delete()

    assert prune(days=30) == 0

    assert findings() == [("deleted", 1), ("deleted", 2)]
    Seal.objects.filter(seq__lte=2).update(made_at=timezone.now() - timedelta(days=40))
    assert prune(days=30) == 2
    seal_events()
    assert findings() == []
