"""Runs that decline: a result with a reason, and nothing staged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, Spending
from agents_app.runs.retry import run_candidates
from content.models import Draft
from tests import make
from tests.agents.asking import execute
from tests.agents.environment import write_agent
from tests.api_client import ApiClient
from tests.fake_provider import Call, Reply

pytestmark = pytest.mark.django_db

REASON = "The text does not say where the beans come from."
FIELD = {"scope": "field", "field_key": "post.metaTitle"}


@pytest.mark.parametrize("given", [{}, FIELD], ids=["post", "field"])
@pytest.mark.parametrize(
    "answer",
    [
        {"declined": REASON},
        # Models write nulls and blanks for what a strict schema makes them send.
        {"declined": REASON, "value": None, "post": None, "modules": [], "summary": ""},
    ],
    ids=["alone", "with nulls"],
)
def test_a_declined_run_is_a_result_after_one_request(
    openai: Any, given: dict[str, Any], answer: dict[str, Any]
) -> None:
    if not given:
        answer = {key: value for key, value in answer.items() if key != "value"}
    else:
        answer = {key: value for key, value in answer.items() if key != "modules"}
    fake = openai(Reply(answer))

    run = execute(make.post(), **given)

    assert (run.status, run.declined, run.error) == ("succeeded", REASON, "")
    assert (run.staged, run.value, run.summary) == ([], None, "")
    assert len(fake.asked) == 1
    assert [step.ok for step in run.steps.all()] == [True]
    assert not Draft.objects.exists()
    assert Spending.objects.get().tokens == 1100
    read = ApiClient("admin").get(f"/api/agent-runs/{run.pk}").json()
    assert (read["status"], read["declined"], read["staged"]) == ("succeeded", REASON, [])


def test_declining_and_proposing_is_sent_back(openai: Any) -> None:
    fake = openai(
        Reply({"declined": REASON, "post": {"metaTitle": "Half"}}),
        Reply({"post": {"metaTitle": "Whole"}}),
    )

    run = execute(make.post())

    assert (run.status, run.staged, run.declined) == ("succeeded", ["post.metaTitle"], "")
    assert "declined stands alone" in fake.asked[1].body["messages"][-1]["content"]


def test_a_summary_beside_the_reason_costs_no_other_try(openai: Any) -> None:
    fake = openai(Reply({"declined": REASON, "summary": "Nothing changed."}))

    run = execute(make.post())

    assert (run.status, run.declined, run.summary) == ("succeeded", REASON, "Nothing changed.")
    assert len(fake.asked) == 1


def test_an_empty_reason_does_not_decline(openai: Any) -> None:
    openai(Reply({"declined": " ", "post": {"metaTitle": "Whole"}}))

    run = execute(make.post())

    assert (run.staged, run.declined) == (["post.metaTitle"], "")


def test_what_the_tools_of_a_declined_run_staged_is_taken_back(
    openai: Any, agents_dir: Path
) -> None:
    path = write_agent(agents_dir, "stager", "dropdown", extra="llmConfig: {useMCP: true}")
    assert path.exists()
    definitions.reload()
    post = make.post()
    make.staged(post, {"title": "Of somebody else"})
    patch = {"postId": str(post.pk), "patch": {"excerpt": "Half"}}
    openai(Reply(calls=(Call("save_post_ai_review", patch),)), Reply({"declined": REASON}))

    run = execute(post, agent_id="stager")

    assert (run.status, run.declined, run.staged) == ("succeeded", REASON, [])
    assert [step.ok for step in run.steps.filter(kind="tool")] == [True]
    assert make.layers(post).ai_review.changes.paths == ("post.title",)


def test_a_declined_try_is_no_candidate_and_its_reason_is_told_to_the_next(openai: Any) -> None:
    openai(Reply({"declined": REASON}))
    run = execute(make.post(), **FIELD)

    (candidate,) = run_candidates(run)

    assert not candidate.is_one
    answer = ApiClient("admin").send("POST", f"/api/agent-runs/{run.pk}/stage", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_value")
    assert not Draft.objects.exists()


def test_a_retry_of_a_declined_run_reads_the_reason(openai: Any) -> None:
    openai(Reply({"declined": REASON}))
    run = execute(make.post())

    answer = ApiClient("admin").send("POST", f"/api/agent-runs/{run.pk}/retry", {"note": "Try."})

    again = AgentRun.objects.get(pk=answer.json()["id"])
    assert again.context["previousSummary"] == REASON


def test_the_page_of_a_declined_run_shows_the_reason_as_a_result(
    openai: Any, signed_in: Any
) -> None:
    openai(Reply({"declined": REASON}))
    run = execute(make.post())

    html = signed_in("editor").get(f"/admin/agents_app/agentrun/{run.pk}/change/").content.decode()

    assert REASON in html
    assert "Declined" in html
    assert "No changes proposed." not in html
    listed = signed_in("editor").get("/admin/agents_app/agentrun/").content.decode()
    assert "declined" in listed
