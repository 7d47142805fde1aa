"""The chain of the activity log: manual changes are detected."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone

from forms.services.submissions import delete_submission
from proofroom.core.activity.chain import link_of, payload_of, seal_events, verify
from proofroom.core.models import Event, Seal
from tests import make
from tests.activity.chain import findings, happened, sealed

pytestmark = pytest.mark.django_db


Tamper = Callable[[Event], Any]


def _update(**values: Any) -> Tamper:
    return lambda event: Event.objects.filter(pk=event.pk).update(**values)


CHANGES: dict[str, tuple[Tamper, str]] = {
    "payload": (_update(payload={"id": "another"}), "changed_payload"),
    "payload emptied": (_update(payload={}), "changed_payload"),
    "actor": (_update(actor_id=None), "changed_facts"),
    "actor's name": (_update(actor_name="somebody"), "changed_facts"),
    "time": (_update(created_at=F("created_at") - timedelta(microseconds=1)), "changed_facts"),
    "door": (_update(via="mcp"), "changed_facts"),
    "credential": (_update(credential="token:x"), "changed_facts"),
    "kind": (_update(name="agent.run.created"), "changed_facts"),
    "post": (_update(post_id=uuid4()), "changed_facts"),
    "agent": (_update(agent_id="another"), "changed_facts"),
    "run": (_update(run_id="another"), "changed_facts"),
    "cause": (_update(cause_id=1), "changed_facts"),
    "hop": (_update(hop=1), "changed_facts"),
    "version": (_update(version=2), "changed_facts"),
    "uid": (_update(uid=uuid4()), "changed_facts"),
    "called forgotten": (
        _update(payload={}, forgotten_at=timezone.now()),
        "wrongly_forgotten",
    ),
    "mark": (_update(is_sealed=False), "marked_unsealed"),
    "deleted": (lambda event: Event.objects.filter(pk=event.pk).delete(), "deleted"),
    "salt": (
        lambda event: Seal.objects.filter(event=event).update(salt="another"),
        "changed_payload",
    ),
    "its digest too": (
        lambda event: Seal.objects.filter(event=event).update(payload="a" * 64),
        "changed_payload",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_entry_is_found(what: str) -> None:
    made = sealed(5)
    tamper, code = CHANGES[what]

    tamper(made[2])
    seal_events()

    expected = [(code, 3)]
    if what == "its digest too":
        expected.insert(0, ("changed_link", 3))
    assert findings() == expected


def test_a_link_made_anew_for_a_changed_entry_breaks_with_the_next() -> None:
    made = sealed(3)
    Event.objects.filter(pk=made[1].pk).update(payload={"id": "another"})
    made[1].refresh_from_db()
    seal = Seal.objects.get(seq=2)
    seal.payload = payload_of(made[1], seal.salt)
    seal.hash = link_of(2, seal.before, seal.facts, seal.payload)
    seal.save()

    assert findings() == [("broken_link", 3)]


def test_a_deleted_link_is_found_and_so_is_its_entry() -> None:
    made = sealed(5)
    Seal.objects.filter(seq=3).delete()

    found = verify().findings

    assert [(item.code, item.seq, item.event_id) for item in found] == [
        ("missing_link", 4, made[3].pk),
        ("unlinked", None, made[2].pk),
    ]


def test_an_entry_deleted_with_its_link_is_found() -> None:
    made = sealed(6)
    Seal.objects.filter(seq__in=(3, 4)).delete()
    Event.objects.filter(pk__in=[event.pk for event in made[2:4]]).delete()

    assert findings() == [("missing_link", 5)]
    assert verify().findings[0].sentence == "Before this link 3 to 4 is missing."


def test_swapped_entries_are_found() -> None:
    made = sealed(4)
    Seal.objects.filter(seq=2).update(event_id=0)
    Seal.objects.filter(seq=3).update(event_id=made[1].pk)
    Seal.objects.filter(seq=2).update(event_id=made[2].pk)

    assert findings() == [
        ("changed_facts", 2),
        ("changed_payload", 2),
        ("changed_facts", 3),
        ("changed_payload", 3),
    ]


def test_forgotten_words_are_called_forgotten_and_leave_no_salt() -> None:
    make.form()
    submission = make.submission(email="a@example.com", message="A secret")
    seal_events()
    digests = list(Seal.objects.order_by("seq").values_list("payload", "hash"))

    delete_submission(
        slug="contact", submission_id=submission.pk, actor=make.actor("admin", via="admin")
    )
    seal_events()

    forgotten = Event.objects.filter(pk__in=submission.event_ids)
    assert {str(event.payload) for event in forgotten} == {"{}"}
    assert set(Seal.objects.filter(event__in=forgotten).values_list("salt", flat=True)) == {""}
    assert (
        list(Seal.objects.order_by("seq").values_list("payload", "hash"))[: len(digests)] == digests
    )
    assert findings() == []
    assert verify().forgotten == 2

    forgotten.filter(pk=submission.event_ids[0]).update(payload={"words": "of somebody else"})
    assert [code for code, _ in findings()] == ["changed_payload"]


def test_an_entry_nobody_seals_is_found() -> None:
    made = happened(2)
    Event.objects.filter(pk=made[0].pk).update(created_at=timezone.now() - timedelta(minutes=11))

    found = verify().findings

    assert [(item.code, item.event_id) for item in found] == [("unsealed", made[0].pk)]
