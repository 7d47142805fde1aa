"""The chain of the activity log: its hashes, ends and pruning, and the detection of every change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from forms.services.submissions import delete_submission
from proofroom.core import outbox
from proofroom.core.activity import chain
from proofroom.core.activity.chain import prune, read_head, seal_events, verify
from proofroom.core.activity.digests import facts_of, link_of, payload_of
from proofroom.core.models import Event, Seal
from tests import make
from tests.activity.chain import findings, happened, sealed

pytestmark = pytest.mark.django_db


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_chain_link_hashes_the_previous_link_and_the_permanent_columns() -> None:
    first, second = sealed(2)

    one, two = Seal.objects.order_by("seq")

    assert (one.seq, one.event_id, one.before) == (1, first.pk, "0" * 64)
    assert (two.seq, two.event_id, two.before) == (2, second.pk, one.hash)
    facts = {
        "id": second.pk,
        "uid": str(second.uid),
        "name": "agent.switched",
        "version": 1,
        "post_id": None,
        "actor_id": make.user("admin").pk,
        "actor_name": "admin",
        "via": "api",
        "credential": "",
        "agent_id": "",
        "run_id": "",
        "cause_id": None,
        "hop": 0,
        "created_at": second.created_at.isoformat(timespec="microseconds"),
    }
    assert two.facts == _sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")))
    assert two.payload == _sha256(two.salt + '{"id":"agent-1"}')
    assert two.hash == _sha256(f"2\n{two.before}\n{two.facts}\n{two.payload}")
    assert one.salt != two.salt
    assert len(one.salt) == 32
    assert set(Event.objects.values_list("is_sealed", flat=True)) == {True}
    assert findings() == []


def test_sealing_goes_on_where_it_ended_and_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "SEAL_BATCH_SIZE", 3)
    happened(7)

    assert seal_events() == 7
    assert seal_events() == 0
    happened(2)
    assert seal_events() == 2

    assert list(Seal.objects.order_by("seq").values_list("seq", flat=True)) == [*range(1, 10)]
    assert findings() == []


def test_what_commits_late_comes_later_in_the_chain() -> None:
    early, late, after = happened(3)
    Event.objects.filter(pk=late.pk).update(is_sealed=True)  # as if nobody could see it yet
    seal_events()
    Event.objects.filter(pk=late.pk).update(is_sealed=False)

    seal_events()

    order = list(Seal.objects.order_by("seq").values_list("event_id", flat=True))
    assert order == [early.pk, after.pk, late.pk]
    assert findings() == []


def test_every_kind_of_value_is_read_back_as_it_was_sealed() -> None:
    payload = {
        "text": 'ümläut \u2028 \U0001f600 " \\',
        "numbers": [0, -1, 1.5, 1e22, 0.1, 10**15, 1.0],
        "nested": {"b": None, "a": [True, {"": []}]},
    }
    outbox.record("agent.switched", actor=make.actor("admin"), payload=payload)

    seal_events()

    assert findings() == []


def test_what_breaks_while_sealing_leaves_nothing_and_is_made_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sealed(2)
    happened(3)
    monkeypatch.setattr(Event.objects, "filter", _broken)
    with pytest.raises(RuntimeError, match="in the middle"):
        chain._seal_batch()
    monkeypatch.undo()
    assert Seal.objects.count() == 2
    assert Event.objects.filter(is_sealed=True).count() == 2

    assert seal_events() == 3

    assert findings() == []


def _broken(*given: Any, **values: Any) -> Any:
    if "pk__in" in values:
        raise RuntimeError("in the middle")
    return Event.objects.get_queryset().filter(*given, **values)


def test_the_walk_takes_batches_and_lists_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "VERIFY_BATCH_SIZE", 4)
    monkeypatch.setattr(chain, "MAX_FAULTS", 5)
    sealed(10)
    Event.objects.update(via="mcp")

    found = verify()

    assert (found.links, len(found.findings), found.left_out) == (10, 5, 5)


def test_the_command_prints_the_head_and_fails_on_findings(capsys: Any) -> None:
    made = happened(3)

    call_command("verify_activity")

    head = f"3:{Seal.objects.get(seq=3).hash}"
    out = capsys.readouterr().out
    assert "links:     3, 1 to 3\n" in out
    assert f"head:      {head}\n" in out
    assert "The log is unchanged." in out

    call_command("verify_activity", "--json", head=head)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["links"], answer["head"], answer["isWhole"]) == (3, head, True)

    Event.objects.filter(pk=made[1].pk).update(actor_name="somebody")
    with pytest.raises(SystemExit) as ended:
        call_command("verify_activity")
    assert ended.value.code == 1
    line = f"changed_facts (link 2, event {made[1].pk}): Who did what, when or how was changed."
    assert line in capsys.readouterr().out


@pytest.mark.parametrize(
    "head", ["", "1", "1:", "x:" + "a" * 64, "1:" + "g" * 64, "-1:" + "a" * 64]
)
def test_a_head_that_is_none_is_refused(head: str) -> None:
    with pytest.raises(ValueError, match="a head is a number"):
        read_head(head)


def test_the_doctor_says_how_old_the_last_link_is() -> None:
    from proofroom.core.diagnostics.doctor import activity_log

    assert [item.found for item in activity_log()] == ["nothing is sealed yet"]
    sealed(2)
    Seal.objects.update(made_at=timezone.now() - timedelta(seconds=30))
    (fine,) = activity_log()
    assert (fine.level, fine.found) == ("ok", "sealed up to entry 2, 30 seconds ago")
    happened(1)
    Event.objects.update(created_at=timezone.now() - timedelta(minutes=12))
    (late,) = activity_log()
    assert (late.level, late.found) == (
        "warn",
        "an entry has been waiting to be sealed for 12 minutes",
    )


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


def test_pruning_stops_at_undelivered_events_and_keeps_the_last_link() -> None:
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
