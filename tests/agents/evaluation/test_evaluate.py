"""Evaluations: both versions asked, within the budget, and what the figures say."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents_app.evaluation.report import report_of
from agents_app.evaluation.runner import EVALUATIONS
from agents_app.evaluation.services import cancel_evaluation, start_evaluation
from agents_app.models import AgentRun, Evaluation, EvaluationItem, PromptVersion, Reservation
from proofroom.core.errors import CmsError, Conflict, NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.agents.evaluation.conftest import FIRST, OTHER
from tests.api_client import ApiClient
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db
AGENT = "seo-specialist"
DEAR = "openai:gpt-6-astra"
CHEAP = "openai:gpt-4.1-mini"


def evaluate(*words: str) -> tuple[dict[str, Any], str]:
    out, err = StringIO(), StringIO()
    call_command("evaluate", AGENT, "--json", *words, stdout=out, stderr=err)
    figures: dict[str, Any] = json.loads(out.getvalue())
    return figures, err.getvalue()


def test_both_versions_are_asked_the_same_and_compared_with_the_decisions(decided_run: Any) -> None:
    run, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    before, runs = make.live_hash(), AgentRun.objects.count()

    figures, _ = evaluate("--model", CHEAP, "--budget", "5")

    assert [asked.body["model"] for asked in fake.asked[1:]] == [
        figures["champion"]["model"].partition(":")[2],
        "gpt-4.1-mini",
    ]
    everything = figures["everything"]
    assert (everything["champion"]["agreed"], everything["champion"]["decisions"]) == (1, 2)
    assert (everything["challenger"]["agreed"], everything["challenger"]["decisions"]) == (0, 2)
    assert everything["champion"]["distance"] == 0
    assert everything["challenger"]["distance"] > 0.5
    assert everything["verdict"] == "too_few"
    assert everything["sentence"].startswith("Too few to tell (decisions: 2, runs: 1).")
    (question,) = figures["questions"]
    assert question["runId"] == str(run.pk)
    assert question["approved"] == {"post.metaTitle": "Filter coffee by hand"}
    assert question["challenger"]["values"]["post.metaTitle"] == "Tea"
    assert (make.live_hash(), AgentRun.objects.count()) == (before, runs)
    assert not Reservation.objects.exists()
    assert Event.objects.filter(name="agent.evaluation.started").count() == 1
    assert Event.objects.get(name="agent.evaluation.ended").payload["state"] == "done"


def test_it_stops_before_the_budget_would_be_passed(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST, usage=(700, 70)), Reply(output=OTHER))
    asked = len(fake.asked)

    figures, progress = evaluate("--model", DEAR, "--budget", "0.02")

    # The champion's answer fits; one of the challenger's could cost more than is left.
    assert len(fake.asked) <= asked + 1
    assert figures["spent"] <= 0.02
    assert (figures["asked"], figures["left"]) == (0, 1)
    assert "could cost more than is left" in progress
    assert figures["state"] == "done"


def test_a_model_without_a_price_is_said(decided_run: Any) -> None:
    decided_run(Reply(output=FIRST), Reply(output=OTHER))

    figures, progress = evaluate("--model", "openai:gpt-of-tomorrow", "--budget", "1")

    assert not figures["pricesKnown"]
    assert "The price of a model is unknown" in progress


def test_an_earlier_prompt_is_asked(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    earlier = PromptVersion.objects.create(
        digest="0123456789ab", agent_id=AGENT, instructions="You write short titles.", rules=""
    )

    figures, _ = evaluate("--prompt", earlier.digest, "--budget", "5")

    champion, challenger = (json.dumps(one.body) for one in fake.asked[1:])
    assert "You write short titles." in challenger
    assert "You write short titles." not in champion
    assert figures["prompt"] == earlier.digest


def test_another_brief_is_told_to_the_challenger_only(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    make.brief(voice="Like a friendly neighbour.")

    evaluate("--brief", "none", "--budget", "5")

    champion, challenger = (json.dumps(one.body) for one in fake.asked[1:])
    assert "friendly neighbour" in champion
    assert "friendly neighbour" not in challenger


def test_an_earlier_version_of_a_brief_is_told(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    brief = make.brief(voice="Like a friendly neighbour.")
    make.changed_brief(brief, voice="Like a judge.")

    evaluate("--brief", f"{brief.pk}:1", "--budget", "5")

    champion, challenger = (json.dumps(one.body) for one in fake.asked[1:])
    assert "Like a judge." in champion
    assert "friendly neighbour" in challenger


def test_a_failed_answer_counts_against_its_version(decided_run: Any) -> None:
    decided_run(Reply(output=FIRST), Reply(status=400, message="no"))

    figures, _ = evaluate("--model", CHEAP, "--budget", "5")

    assert figures["everything"]["challenger"]["errors"] == 1
    difference = figures["everything"]["agreementDifference"]
    assert difference["low"] < 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "nonsense"], "no provider:model"),
        (["--prompt", "ffffffffffff"], "has no prompt version"),
        (["--brief", "nonsense"], "Name a brief by its ID"),
        ([], "Name another model"),
        (["--model", CHEAP, "--budget", "0"], "more than 0"),
        (["--model", CHEAP, "--budget", "much"], "number of US dollars"),
        (["--model", CHEAP, "--budget", "NaN"], "more than 0"),
        (["--model", CHEAP, "--sample", "0"], "from 1 to 200"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(decided_run: Any, words: list[str], said: str) -> None:
    decided_run()
    with pytest.raises(CommandError, match=said):
        evaluate(*words)
    assert not Evaluation.objects.exists()


def test_without_decisions_there_is_nothing_to_compare(openai: Any) -> None:
    openai()
    with pytest.raises(CommandError, match="People decided on no run"):
        evaluate("--model", CHEAP)


def test_an_unknown_agent_is_named() -> None:
    with pytest.raises(CommandError, match="No agent is named 'nobody'"):
        call_command("evaluate", "nobody", "--model", CHEAP)


def start(**values: Any) -> Evaluation:
    given = {"agent_id": AGENT, "actor": make.actor("admin"), "budget": Decimal(5), "model": CHEAP}
    return start_evaluation(**{**given, **values})


def test_a_cancelled_evaluation_asks_nothing_more(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    job, asked = start(), len(fake.asked)

    cancel_evaluation(evaluation_id=job.pk, actor=make.actor("admin"))
    EVALUATIONS.run_turn(job.pk)

    job.refresh_from_db()
    assert (job.state, job.done, len(fake.asked)) == ("cancelled", 0, asked)
    with pytest.raises(Conflict) as caught:
        cancel_evaluation(evaluation_id=job.pk, actor=make.actor("admin"))
    assert caught.value.code == "evaluation_finished"


def test_answers_paid_before_a_cancellation_are_stored(
    decided_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided_run(Reply(output=FIRST, usage=(700, 70)), Reply(output=OTHER, usage=(700, 70)))
    job = start()
    real = EVALUATIONS._answer

    def answer(item: EvaluationItem) -> str:
        stop = real(item)
        cancel_evaluation(evaluation_id=job.pk, actor=make.actor("admin"))
        return stop

    monkeypatch.setattr(EVALUATIONS, "_answer", answer)
    EVALUATIONS.run_turn(job.pk)

    job.refresh_from_db()
    assert job.state == "cancelled"
    assert job.spent > 0
    assert report_of(job).asked == 1


def test_a_question_is_asked_by_one_worker(decided_run: Any) -> None:
    _, fake = decided_run(Reply(output=FIRST), Reply(output=OTHER))
    job, asked = start(), len(fake.asked)
    job.items.update(state="running")

    EVALUATIONS.run_turn(job.pk)

    assert len(fake.asked) == asked
    job.refresh_from_db()
    assert job.is_running


def test_a_question_whose_worker_died_is_skipped_and_the_rest_goes_on(decided_run: Any) -> None:
    decided_run()
    job = start()
    job.items.update(state="running")

    EVALUATIONS.resume(job)
    EVALUATIONS.run_turn(job.pk)

    job.refresh_from_db()
    assert (job.state, job.items.get().state) == ("done", "skipped")


def test_a_changed_agent_ends_it(decided_run: Any) -> None:
    decided_run()
    job = start()
    Evaluation.objects.update(champion={"model": "openai:other", "prompt": "x"})

    EVALUATIONS.run_turn(job.pk)

    job.refresh_from_db()
    assert (job.state, job.why) == ("failed", "The agent was changed while it was evaluated.")


def test_evaluations_need_their_permission(decided_run: Any) -> None:
    decided_run()
    with pytest.raises(NotAllowed):
        start(actor=make.actor("editor"))
    with pytest.raises(CmsError):
        start(actor=make.agent_actor(AGENT))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", f"openai:{'x' * 121}"),
        ("brief", f"BRIEF:{'9' * 5000}"),
        ("brief", f"BRIEF:{'0' * 60}1"),
        ("prompt", "x" * 5000),
    ],
)
def test_values_of_any_length_are_refused_by_name(decided_run: Any, name: str, value: str) -> None:
    decided_run()
    sent = {"agentId": "seo-specialist", name: value.replace("BRIEF", str(make.brief().pk))}

    answer = ApiClient("admin").send("POST", "/api/evaluations", {**sent, "budget": 1})

    assert answer.status_code == 422, answer.content
    assert list(answer.json()["details"]) == [name]


def test_an_id_with_nul_is_refused() -> None:
    answer = ApiClient("admin").read("/api/evaluations?agentId=%00", expect=422)

    assert list(answer["details"]) == ["agentId"]
