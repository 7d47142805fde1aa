"""The quality of agents and AI clients: figures from what people decided."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from agents_app.models import AgentRun
from agents_app.quality.decisions import Decision, DecisionOutcome, Subject, field_of
from agents_app.quality.figures import (
    QualityFigures,
    QualityFilter,
    measure_quality,
    read_period,
)
from agents_app.quality.notes import frequent_notes, frequent_terms, heeded_notes
from content.inbox.rejections import undo_rejections
from content.layers import approve, digest_of, reject, submit
from content.models import Layer, Post
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import execute
from tests.api_client import ApiClient
from tests.fake_provider import Reply
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
AGENT = Subject("agent", "seo-specialist")
CLIENT = Subject("client", "mcp-token:7")
FIRST = {
    "post": {
        "metaTitle": "Filter coffee by hand",
        "excerpt": "Four minutes for 12 % less, in 2031.",
    },
    "summary": "Two texts.",
}


def measured(**only: Any) -> dict[Subject, QualityFigures]:
    found = measure_quality(
        period=read_period(None, None), actor=make.actor("admin"), only=QualityFilter(**only)
    )
    return {row.subject: row for row in found.rows}


def accept(post: Post, *paths: str) -> None:
    admin = make.actor("admin")
    submit(post_id=post.pk, actor=admin)
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=admin, digest=digest, paths=list(paths) or None)


def refuse(post: Post, *paths: str, note: str = "") -> int:
    return reject(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=make.actor("admin"),
        paths=list(paths) or None,
        note=note,
    ).rejection


@pytest.fixture
def decided(openai: Any) -> AgentRun:
    """Return a run whose title was accepted and whose excerpt was rejected with a note."""
    openai(Reply(output=FIRST, usage=(700, 70)))
    post = make.post()
    run = execute(post)
    refuse(post, "post.excerpt", note="Too many numbers.")
    accept(post, "post.metaTitle")
    return run


def test_decisions_are_counted_by_field_and_week(decided: AgentRun) -> None:
    row = measured()[AGENT]

    assert (row.total.accepted, row.total.edited, row.total.rejected) == (1, 0, 1)
    assert row.total.acceptance == 0.5
    assert row.total.interval is None  # too few to tell
    assert row.fields["post.metaTitle"].acceptance == 1
    assert row.fields["post.excerpt"].acceptance == 0
    today = datetime.now(UTC).date()
    assert list(row.weeks) == [today - timedelta(days=today.weekday())]
    assert [note.note for note in row.notes] == ["Too many numbers."]
    assert {term.term for term in row.terms} == {"many", "numbers"}


def test_refused_facts_are_what_the_rejected_text_added(decided: AgentRun) -> None:
    payload = Event.objects.get(name="post.ai-review.reject").payload

    assert payload["proposals"] == {
        "post.excerpt": {"agent": "seo-specialist", "client": "", "facts": 2}
    }
    assert measured()[AGENT].total.refused_facts == 2


def test_costs_and_minutes_are_of_the_accepted_changes(decided: AgentRun) -> None:
    AgentRun.objects.update(
        cost="0.03",
        started_at=timezone.now() - timedelta(minutes=2),
        finished_at=timezone.now(),
    )
    row = measured()[AGENT]

    assert row.cost_per_accepted is not None
    assert float(row.cost_per_accepted) == 0.03
    assert row.minutes_per_accepted == pytest.approx(2, abs=0.1)
    assert row.waited is not None
    assert row.waited < 1
    assert (row.runs.runs, row.runs.failed, row.runs.asked_again) == (1, 0, 0)


def test_an_edit_before_acceptance_has_its_distance(openai: Any) -> None:
    openai(Reply(output={"post": {"metaTitle": "Filter coffee by hand"}, "summary": "One."}))
    post = make.post()
    execute(post)
    submit(post_id=post.pk, actor=make.actor("admin"))
    make.staged(
        post,
        {"metaTitle": "Filter coffee by foot"},
        layer=Layer.REVIEW,
        by=make.actor("editor"),
    )
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)

    row = measured()[AGENT]

    assert (row.total.accepted, row.total.edited) == (0, 1)
    assert row.total.distance == 0.25


def test_ai_clients_are_told_apart_by_their_credential() -> None:
    post, by = make.post(), make.mcp_actor()
    client = type(by)(**{**_fields(by), "principal": CLIENT.id})
    make.staged(post, {"excerpt": "One", "metaTitle": "Two"}, by=client)
    refuse(post, "post.excerpt", note="No")
    accept(post, "post.metaTitle")

    row = measured()[CLIENT]

    assert (row.total.accepted, row.total.rejected) == (1, 1)
    assert row.runs.runs == 0
    assert row.cost_per_accepted is None
    assert AGENT not in measured()


def _fields(actor: Any) -> dict[str, Any]:
    from dataclasses import fields

    return {one.name: getattr(actor, one.name) for one in fields(actor) if one.init}


def test_a_persons_own_changes_are_nobodys() -> None:
    post = make.post()
    make.staged(post, {"excerpt": "One"}, by=make.actor("editor"))
    refuse(post)
    assert measured() == {}


def test_a_rejection_that_was_undone_does_not_count(openai: Any) -> None:
    openai(Reply(output=FIRST))
    post = make.post()
    execute(post)
    rejection = refuse(post, note="No")
    assert measured()[AGENT].total.rejected == 2

    undo_rejections(post_id=post.pk, rejections=[rejection], actor=make.actor("admin"))

    assert measured()[AGENT].total.rejected == 0


def test_events_of_earlier_releases_count_by_their_runs(decided: AgentRun) -> None:
    event = Event.objects.get(name="post.ai-review.reject")
    payload = {key: value for key, value in event.payload.items() if key != "proposals"}
    Event.objects.filter(pk=event.pk).update(payload=payload)

    row = measured()[AGENT]

    assert (row.total.rejected, row.total.refused_facts) == (1, 0)


def test_the_challengers_part_is_shown_apart(decided: AgentRun) -> None:
    assert measured()[AGENT].challenger is None
    AgentRun.objects.update(is_challenger=True)

    row = measured()[AGENT]

    assert row.challenger is not None
    assert row.challenger.decided == 2
    assert row.champion is not None
    assert row.champion.decided == 0


def test_figures_take_the_same_queries_for_any_number(decided: AgentRun) -> None:
    def statements() -> int:
        return count_queries(
            measure_quality, period=read_period(None, None), actor=make.actor("admin")
        )

    few = statements()
    for number in range(3):
        post = make.post(f"Post {number}")
        make.staged(post, {"excerpt": "x"}, by=make.agent_actor("seo-specialist", str(decided.pk)))
        refuse(post)

    assert few == statements() <= 6


def decision(outcome: str, *, day: int, note: str = "", path: str = "post.title") -> Decision:
    at = datetime(2031, 3, day, tzinfo=UTC)
    return Decision(AGENT, _POST, path, DecisionOutcome(outcome), at, note=note)


_POST = UUID(int=1)


def test_a_note_was_heeded_if_the_next_proposal_there_was_accepted() -> None:
    rows = [
        decision("rejected", day=1, note="Too long"),
        decision("rejected", day=2, note="Still too long"),
        decision("edited", day=3),
        decision("rejected", day=1, note="No", path="post.excerpt"),
        decision("rejected", day=1, path="post.slug"),
        decision("accepted", day=2, path="post.slug"),
    ]

    found = heeded_notes(rows)[AGENT]

    # A rejection without a note says nothing that could be heeded.
    assert (found.notes, found.heeded, found.ignored) == (3, 1, 1)
    assert found.share == 0.5
    assert found.interval is None


def test_notes_say_most_what_most_notes_say() -> None:
    rows = [
        decision("rejected", day=1, note="The title is too long"),
        decision("rejected", day=1, note="The title is too long", path="post.excerpt"),
        decision("rejected", day=2, note="the  title is too long"),
        decision("rejected", day=3, note="Wrong tone, and too long"),
    ]

    assert [(one.note, one.count) for one in frequent_notes(rows)] == [
        ("the  title is too long", 2),
        ("Wrong tone, and too long", 1),
    ]
    assert [(one.term, one.notes) for one in frequent_terms(rows)][:2] == [
        ("long", 3),
        ("title", 2),
    ]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("post.metaTitle", "post.metaTitle"),
        ("post.customFields.rating", "post.customFields.rating"),
        ("modules.0b9e.props.text", "module.text"),
        ("modules.0b9e.overrides.text", "module.text"),
        ("modules.0b9e.position", "module.position"),
        ("modules.0b9e", "module"),
    ],
)
def test_fields_do_not_name_a_module_of_one_post(path: str, field: str) -> None:
    assert field_of(path) == field


def test_the_api_answers_figures_and_the_changes_behind_them(decided: AgentRun) -> None:
    client = ApiClient("admin")

    figures = client.read("/api/quality")
    (row,) = figures["data"]

    assert (row["kind"], row["id"], row["decided"], row["accepted"]) == (
        "agent",
        "seo-specialist",
        2,
        1,
    )
    assert row["name"]
    assert row["acceptanceRange"] is None
    assert [one["field"] for one in row["fields"]] == ["post.excerpt", "post.metaTitle"]
    assert row["heeded"]["notes"] == 1
    assert figures["complete"] is True
    changes = client.read("/api/quality/changes?agent=seo-specialist&outcome=rejected")["data"]
    assert [(one["path"], one["note"], one["runId"]) for one in changes] == [
        ("post.excerpt", "Too many numbers.", str(decided.pk))
    ]
    assert client.read("/api/quality?agent=nobody")["data"] == []
    assert client.read("/api/quality?field=post.metaTitle")["data"][0]["decided"] == 1


def test_a_period_has_two_ends_and_a_limit() -> None:
    assert read_period(None, date(2031, 3, 12)).first == date(2030, 12, 23)
    with pytest.raises(RuleViolation):
        read_period(date(2031, 3, 12), date(2031, 3, 11))
    with pytest.raises(RuleViolation):
        read_period(date(2029, 1, 1), date(2031, 3, 11))


@pytest.mark.parametrize("days", ["from=9999-12-30&to=9999-12-31", "to=0001-01-01"])
def test_days_at_the_ends_of_the_calendar_are_refused(days: str) -> None:
    for path in (f"/api/quality?{days}", f"/api/quality/changes?{days}", f"/admin/quality/?{days}"):
        assert ApiClient("admin").get(path).status_code == 422, path


def test_quality_needs_its_permission() -> None:
    with pytest.raises(NotAllowed):
        measure_quality(period=read_period(None, None), actor=make.actor("editor"))
