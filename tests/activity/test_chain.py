"""The chain of the activity log: its hashes, and the detection of every change to a sealed entry."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.activity import chain
from proofroom.core.activity.chain import read_head, seal_events, verify
from proofroom.core.models import Event, Seal
from tests import make
from tests.activity.chain import findings, happened, sealed

pytestmark = pytest.mark.django_db


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_link_is_made_of_the_one_before_and_of_all_that_stays() -> None:
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
