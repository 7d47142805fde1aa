"""Retries of a run with a note, the candidates of a field, and the selection of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from agents_app.models import AgentRun
from agents_app.runs import execution
from agents_app.runs.retry import retry_run
from content.layers import open_layers
from content.models import Draft, Post
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import execute, payload_of, send
from tests.agents.environment import write_agent
from tests.conftest import RunOnCommit
from tests.fake_provider import FakeProvider, Reply

pytestmark = pytest.mark.django_db
OpenAI = Callable[..., FakeProvider]
SignedIn = Callable[..., Client]


def _asked(post: Post, **given: object) -> AgentRun:
    """Create a field run that stages nothing."""
    return execute(
        post,
        agent_id="general-assistant",
        scope="field",
        field_key="post.metaTitle",
        stages_value=False,
        **given,
    )


def _again(run: AgentRun, note: str = "", role: str = "editor") -> AgentRun:
    made = retry_run(run_id=run.pk, actor=make.actor(role), note=note)
    execution.execute_run(made.pk)
    made.refresh_from_db()
    return made


def test_a_further_try_has_the_same_input_and_knows_what_was_said_of_the_others(
    openai: OpenAI,
) -> None:
    fake = openai(*(Reply({"value": f"Title {number}"}) for number in (1, 2, 3)))
    first = _asked(make.post(), context={"audience": "beginners"})

    second = _again(first, "Shorter.")
    third = _again(second, "  Warmer.  ")

    assert (second.first_try_id, third.first_try_id) == (first.pk, first.pk)
    assert (third.scope, third.field_key, third.stages_value) == ("field", "post.metaTitle", False)
    assert third.note == "Warmer."
    context = payload_of(fake.asked[2])["context"]
    assert context["audience"] == "beginners"
    assert context["note"] == "Warmer."
    assert context["previousCandidates"] == [
        {"value": "Title 1", "note": ""},
        {"value": "Title 2", "note": "Shorter."},
    ]
    assert not Draft.objects.exists()


def test_a_try_at_a_whole_post_knows_the_summary_of_the_one_before(openai: OpenAI) -> None:
    fake = openai(Reply({"summary": "Nothing to do."}), Reply({"summary": "Still nothing."}))

    _again(execute(make.post()), "Look again.")

    context = payload_of(fake.asked[1])["context"]
    assert (context["note"], context["previousSummary"]) == ("Look again.", "Nothing to do.")


def test_candidates_are_listed_oldest_first_and_one_is_chosen(
    openai: OpenAI, signed_in: SignedIn
) -> None:
    openai(Reply({"value": "One"}), Reply(status=400), Reply({"value": "Three"}))
    post = make.post()
    first = _asked(post)
    second = _again(first, "Another.")
    third = _again(second)
    editor = signed_in()

    told = editor.get(f"/api/agent-runs/{third.pk}/candidates").json()["data"]
    assert [(one["runId"], one["status"], one["value"], one["note"]) for one in told] == [
        (str(first.pk), "succeeded", "One", ""),
        (str(second.pk), "failed", None, "Another."),
        (str(third.pk), "succeeded", "Three", ""),
    ]
    answer = send(editor, f"/api/agent-runs/{first.pk}/stage")

    assert answer.status_code == 200, answer.json()
    assert answer.json()["staged"] == ["post.metaTitle"]
    layers = open_layers(post)
    assert layers.ai_review.document.fields["metaTitle"] == "One"
    assert layers.live.fields.get("metaTitle") != "One"
    mark = layers.ai_review.marks["post.metaTitle"]
    assert (mark.agent_id, mark.run_id, mark.user) == (
        "general-assistant",
        str(first.pk),
        "editor",
    )
    assert mark.is_ai
    event = Event.objects.get(name="agent.run.staged")
    assert (event.actor_name, event.payload["id"]) == ("editor", str(first.pk))
    told = editor.get(f"/api/agent-runs/{first.pk}/candidates").json()["data"]
    assert [one["isStaged"] for one in told] == [True, False, False]

    assert send(editor, f"/api/agent-runs/{third.pk}/stage").status_code == 200
    assert open_layers(post).ai_review.document.fields["metaTitle"] == "Three"


def test_what_answered_nothing_is_not_chosen(openai: OpenAI, signed_in: SignedIn) -> None:
    openai(Reply(status=400), Reply({"summary": "Fine."}))
    failed, whole = _asked(make.post()), execute(make.post(slug="other"))
    editor = signed_in()

    for run in (failed, whole):
        answer = send(editor, f"/api/agent-runs/{run.pk}/stage")
        assert (answer.status_code, answer.json()["code"]) == (422, "no_value")
    assert editor.get(f"/api/agent-runs/{whole.pk}/candidates").json() == {"data": []}
    assert not Draft.objects.exists()


def test_a_run_that_goes_on_is_not_tried_again() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api", post=make.post()
    )

    with pytest.raises(Conflict) as refused:
        retry_run(run_id=run.pk, actor=make.actor("editor"))

    assert refused.value.code == "run_unfinished"
    assert AgentRun.objects.count() == 1


@pytest.mark.parametrize(
    ("role", "scope", "error"),
    [
        ("translator", "dropdown", NotAllowed),
        ("editor", "posts.bulk", NotAllowed),
        ("editor", "form.submit", NotAllowed),
        ("admin", "form.submit", None),
        ("admin", "posts.bulk", None),
        ("editor", "dropdown", None),
    ],
)
def test_the_rights_are_asked_anew(
    agents_dir: Path, role: str, scope: str, error: type[CmsError] | None
) -> None:
    write_agent(agents_dir, "wide", "dropdown", "posts.bulk", "form.submit")
    run = AgentRun.objects.create(
        agent_id="wide", scope=scope, by_name="x", via="api", post=make.post(), status="failed"
    )

    if error is None:
        assert retry_run(run_id=run.pk, actor=make.actor(role)).scope == scope
        return
    with pytest.raises(error):
        retry_run(run_id=run.pk, actor=make.actor(role))
    assert AgentRun.objects.count() == 1


def test_without_its_post_or_its_agent_nothing_is_tried_again(agents_dir: Path) -> None:
    post = make.post()
    gone = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api", post=post,
        status="failed",
    )  # fmt: skip
    unknown = AgentRun.objects.create(
        agent_id="not-there", scope="dropdown", by_name="x", via="api", post=make.post(slug="b"),
        status="failed",
    )  # fmt: skip
    Post.objects.filter(pk=post.pk).update(deleted_at=post.created_at)

    for run in (gone, unknown):
        with pytest.raises(NotFound):
            retry_run(run_id=run.pk, actor=make.actor("editor"))


def test_agents_and_ai_clients_try_nothing_again_and_choose_nothing(openai: OpenAI) -> None:
    openai(Reply({"value": "One"}))
    run = _asked(make.post())

    for actor in (make.agent_actor("general-assistant"), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            retry_run(run_id=run.pk, actor=actor)
    assert AgentRun.objects.count() == 1


def test_what_read_words_of_visitors_only_reads_when_it_is_tried_again(
    agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    write_agent(agents_dir, "wide", "dropdown")
    run = AgentRun.objects.create(
        agent_id="wide", scope="dropdown", by_name="x", via="api", post=make.post(),
        status="failed", has_read_untrusted=True,
    )  # fmt: skip

    assert retry_run(run_id=run.pk, actor=make.actor("editor")).has_read_untrusted


def test_a_second_run_builds_on_what_the_first_proposed(openai: OpenAI) -> None:
    fake = openai(
        Reply({"post": {"metaTitle": "By the first"}}),
        Reply({"post": {"excerpt": "By the second"}}),
    )
    post = make.post()
    first = execute(post)

    second = execute(post)

    assert payload_of(fake.asked[1])["post"]["metaTitle"] == "By the first"
    layer = open_layers(post).ai_review
    assert layer.document.fields["metaTitle"] == "By the first"
    assert layer.document.fields["excerpt"] == "By the second"
    assert {path: mark.run_id for path, mark in layer.marks.items()} == {
        "post.metaTitle": str(first.pk),
        "post.excerpt": str(second.pk),
    }


@pytest.mark.parametrize(
    "note", ["a\x00b", "\ud800", 5, None, ["a"]], ids=lambda note: type(note).__name__
)
def test_a_hostile_note_is_refused(openai: OpenAI, signed_in: SignedIn, note: object) -> None:
    openai(Reply({"value": "One"}))
    run = _asked(make.post())

    answer = send(signed_in(), f"/api/agent-runs/{run.pk}/retry", {"note": note})

    assert answer.status_code in (400, 422), answer.json()
    assert AgentRun.objects.count() == 1
