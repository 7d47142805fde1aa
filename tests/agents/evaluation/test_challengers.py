"""Champion and challenger: the share of runs, what knows of it, and the promotion of a version."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from agents_app.definitions import versions
from agents_app.definitions.agents import get_agent
from agents_app.definitions.versions import is_in_share, load_versions
from agents_app.evaluation.statistics import judge, mean_interval, paired_difference
from agents_app.models import (
    AgentRun,
    ChampionChallenger,
    Evaluation,
    EvaluationItem,
    PromptVersion,
)
from agents_app.providers.selection import config_with_model
from agents_app.runs.creation import start_dry_run
from agents_app.runs.estimates import estimate
from agents_app.runs.execution import execute_run
from agents_app.runs.prompt import prompt_version
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import execute
from tests.agents.evaluation.conftest import FIRST
from tests.api_client import ApiClient
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db
AGENT = "seo-specialist"
URL = f"/api/agents/{AGENT}"
CHEAP = "openai:gpt-4.1-mini"


def change(body: dict[str, Any], role: str = "admin") -> Any:
    return ApiClient(role).send("PATCH", URL, body)


def test_the_share_is_kept_and_each_run_stays_on_its_side() -> None:
    ids = [uuid4() for _ in range(4000)]

    challenged = [is_in_share(AGENT, id_, 25) for id_ in ids]

    assert 0.2 < sum(challenged) / len(ids) < 0.3
    assert challenged == [is_in_share(AGENT, id_, 25) for id_ in ids]
    assert all(is_in_share(AGENT, id_, 100) for id_ in ids)
    assert not any(is_in_share(AGENT, id_, 0) for id_ in ids)
    # A larger share only adds runs.
    assert all(
        is_in_share(AGENT, id_, 50) for id_, is_in in zip(ids, challenged, strict=True) if is_in
    )


def test_the_challenger_answers_its_share_with_proposals_of_its_own(openai: Any) -> None:
    fake = openai(Reply(output=FIRST))
    answer = change({"challenger": {"model": CHEAP, "share": 100}})
    assert answer.status_code == 200, answer.content
    assert answer.json()["challenger"] == {"model": CHEAP, "prompt": None, "share": 100}

    run = execute(make.post())

    assert fake.asked[0].body["model"] == "gpt-4.1-mini"
    assert (run.status, run.is_challenger, run.model) == ("succeeded", True, "gpt-4.1-mini")
    assert run.staged
    shown = ApiClient("admin").read(f"/api/agent-runs/{run.pk}")
    assert shown["isChallenger"] is True
    event = Event.objects.get(name="agent.challenger.set")
    assert event.payload == {"id": AGENT, "model": CHEAP, "prompt": None, "share": 100}


@pytest.mark.parametrize("part", ["challenger", "champion"])
def test_a_name_longer_than_any_model_is_refused(part: str, openai: Any) -> None:
    openai(Reply(output=FIRST))
    share = {"share": 5} if part == "challenger" else {"confirmed": True}

    answer = change({part: {"model": f"openai:{'x' * 121}", **share}})

    assert answer.status_code == 422, answer.content
    assert list(answer.json()["details"]) == [f"{part}.model"]


def test_all_tries_of_a_run_have_the_same_version(openai: Any) -> None:
    openai(Reply(output=FIRST))
    change({"challenger": {"model": CHEAP, "share": 50}})
    agent = get_agent(AGENT)
    assert agent is not None
    found, first = load_versions(agent), AgentRun(agent_id=AGENT)

    again = [AgentRun(agent_id=AGENT, first_try=first) for _ in range(20)]

    assert {found.choose(run)[1] for run in again} == {found.choose(first)[1]}


def test_a_test_run_asks_the_champion(openai: Any) -> None:
    fake = openai(Reply(output=FIRST))
    change({"challenger": {"model": CHEAP, "share": 100}})
    run = start_dry_run(agent_id=AGENT, post_id=make.post().pk, actor=make.actor("admin"))

    execute_run(run.pk)

    run.refresh_from_db()
    assert not run.is_challenger
    assert fake.asked[0].body["model"] != "gpt-4.1-mini"


def test_a_challenger_of_an_earlier_prompt_is_told_it(openai: Any) -> None:
    fake = openai(Reply(output=FIRST))
    PromptVersion.objects.create(
        digest="0123456789ab", agent_id=AGENT, instructions="You write short titles.", rules=""
    )
    change({"challenger": {"prompt": "0123456789ab", "share": 100}})

    run = execute(make.post())

    assert "You write short titles." in str(fake.asked[0].body)
    assert run.is_challenger
    assert run.prompt_version != prompt_version(_agent())


def _agent() -> Any:
    agent = get_agent(AGENT)
    assert agent is not None
    return agent


def test_the_challenge_ends_and_nothing_happens_twice(openai: Any) -> None:
    openai()
    for _ in range(2):
        change({"challenger": {"model": CHEAP, "share": 30}})
    assert Event.objects.filter(name="agent.challenger.set").count() == 1

    ended = change({"challenger": None})

    assert ended.json()["challenger"] is None
    assert load_versions(_agent()).challenger is None
    assert Event.objects.filter(name="agent.challenger.set").count() == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"challenger": {"model": "nonsense", "share": 10}}, "challenger.model"),
        ({"challenger": {"prompt": "ffffffffffff", "share": 10}}, "challenger.prompt"),
        ({"challenger": {"share": 10}}, "challenger.model"),
        ({"challenger": {"model": CHEAP, "share": 0}}, "challenger.share"),
        ({"challenger": {"model": CHEAP, "share": 101}}, "challenger.share"),
        ({"champion": {"confirmed": True}}, "champion.model"),
        ({"champion": {"model": "nonsense", "confirmed": True}}, "champion.model"),
        ({}, "enabled"),
    ],
)
def test_versions_that_cannot_answer_are_refused(
    openai: Any, body: dict[str, Any], field: str
) -> None:
    openai()
    answer = change(body)

    assert answer.status_code == 422
    assert list(answer.json()["details"]) == [field]
    assert not ChampionChallenger.objects.filter(share__gt=0).exists()


def test_only_people_who_edit_agents_choose_versions(openai: Any) -> None:
    openai()
    assert change({"challenger": {"model": CHEAP, "share": 5}}, "editor").status_code == 403


def test_the_estimate_knows_both_versions(openai: Any) -> None:
    openai()
    post = make.post()
    champion = estimate(_agent(), [post])
    change({"challenger": {"model": "openai:gpt-6-astra", "share": 50}})

    mixed = estimate(_agent(), [post])

    assert champion.cost is not None
    assert mixed.cost is not None
    assert mixed.cost > champion.cost
    assert champion.most_cost is not None
    assert mixed.most_cost is not None
    assert mixed.most_cost > champion.most_cost
    assert (mixed.challenger, mixed.share) == ("openai gpt-6-astra", 50)
    assert (champion.challenger, champion.share) == ("", 0)


def test_the_key_of_an_agents_file_goes_to_no_other_provider(openai: Any) -> None:
    openai()
    config = _agent().llm_config.model_copy(update={"provider_text": "openai", "api_key": "s"})
    other = config_with_model(config, "anthropic:claude-sonnet-5-5")

    assert other.api_key is None
    assert config_with_model(config, CHEAP).api_key == "s"


def evaluated(
    gained: int, both: int, lost: int = 0, champion: JsonObject | None = None
) -> Evaluation:
    """Store an evaluation of the cheap model with these decisions, one a run."""
    run = execute(make.post())
    agent = _agent()
    job = Evaluation.objects.create(
        agent_id=AGENT,
        model=CHEAP,
        champion=champion or {"model": "openai:gpt-6.1-terra", "prompt": prompt_version(agent)},
        challenger={"model": CHEAP, "prompt": prompt_version(agent)},
        budget=Decimal(1),
        state="done",
    )
    sides = [(False, True)] * gained + [(True, True)] * both + [(True, False)] * lost
    for number, pair in enumerate(sides):
        answers = (
            {
                "values": {},
                "paths": [
                    {
                        "path": "post.title",
                        "decision": "approved",
                        "outcome": "same",
                        "agrees": agrees,
                        "distance": 0.0,
                        "heldOut": False,
                    }
                ],
                "failedChecks": [],
                "cost": 0.0,
                "seconds": 1.0,
                "error": "",
            }
            for agrees in pair
        )
        EvaluationItem.objects.create(
            evaluation=job,
            position=number,
            run=run,
            state="done",
            champion=next(answers),
            challenger=next(answers),
        )
    return job


def test_promoting_asks_for_an_evaluation(openai: Any) -> None:
    openai(Reply(output=FIRST))
    answer = change({"champion": {"model": CHEAP}})

    assert (answer.status_code, answer.json()["code"]) == (422, "evaluation_needed")
    assert load_versions(_agent()).champion == _agent()


@pytest.mark.parametrize(
    ("gained", "both", "lost", "is_promoted"),
    [(0, 19, 0, False), (0, 40, 0, True), (20, 20, 0, True), (0, 10, 30, False)],
    ids=["too few", "no difference", "better", "worse"],
)
def test_an_evaluation_decides(
    openai: Any, gained: int, both: int, lost: int, is_promoted: bool
) -> None:
    openai(Reply(output=FIRST), Reply(output=FIRST))
    job = evaluated(gained, both, lost)

    answer = change({"champion": {"model": CHEAP}})

    assert answer.status_code == (200 if is_promoted else 422)
    if not is_promoted:
        assert answer.json()["code"] == "evaluation_needed"
        return
    champion = answer.json()["champion"]
    assert (champion["model"], champion["evaluation"], champion["holds"]) == (
        CHEAP,
        str(job.pk),
        True,
    )
    assert execute(make.post("Another")).model == "gpt-4.1-mini"


def test_an_evaluation_against_an_earlier_champion_does_not_decide(openai: Any) -> None:
    openai(Reply(output=FIRST))
    evaluated(0, 40, champion={"model": "openai:gpt-4.1", "prompt": "ffffffffffff"})

    answer = change({"champion": {"model": CHEAP}})

    assert (answer.status_code, answer.json()["code"]) == (422, "evaluation_needed")
    assert "compared with an earlier one" in answer.json()["error"]
    confirmed = change({"champion": {"model": CHEAP, "confirmed": True}}).json()
    assert confirmed["champion"]["evaluation"] is None


def test_the_word_of_a_person_promotes_and_ends_the_same_challenger(openai: Any) -> None:
    openai(Reply(output=FIRST))
    change({"challenger": {"model": CHEAP, "share": 30}})

    answer = change({"champion": {"model": CHEAP, "confirmed": True}}).json()

    assert answer["champion"]["evaluation"] is None
    assert answer["challenger"] is None
    assert answer["text"]["model"] == "gpt-4.1-mini"
    run = execute(make.post())
    assert (run.model, run.is_challenger) == ("gpt-4.1-mini", False)
    payload = Event.objects.get(name="agent.version.promoted").payload
    assert (payload["model"], payload["confirmed"]) == (CHEAP, True)


def test_the_answer_can_be_sent_back_unchanged(openai: Any) -> None:
    openai()
    change({"champion": {"model": CHEAP, "confirmed": True}})
    change({"challenger": {"model": "openai:gpt-4.1", "share": 10}})
    events = Event.objects.count()

    again = change(ApiClient("admin").read(URL))

    assert again.status_code == 200, again.content
    changed = Event.objects.filter(name__in=("agent.version.promoted", "agent.challenger.set"))
    assert changed.count() == 2
    assert Event.objects.count() == events + 1  # the switch records each request


def test_a_changed_file_ends_a_promotion(openai: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    openai()
    change({"champion": {"model": CHEAP, "confirmed": True}})
    monkeypatch.setattr(versions, "file_digest", lambda _: "another")

    found = load_versions(_agent())

    assert found.is_outdated
    assert not found.is_promoted
    assert found.champion.llm_config == _agent().llm_config
    assert ApiClient("admin").read(URL)["champion"]["holds"] is False


def test_the_file_answers_again(openai: Any) -> None:
    openai()
    change({"champion": {"model": CHEAP, "confirmed": True}})

    answer = change({"champion": None}).json()

    assert answer["champion"] is None
    assert load_versions(_agent()).champion.llm_config == _agent().llm_config


def test_intervals_of_paired_answers() -> None:
    assert paired_difference(gained=0, lost=0, number=0) is None
    few = paired_difference(gained=1, lost=0, number=2)
    many = paired_difference(gained=30, lost=5, number=100)
    assert few is not None
    assert many is not None
    assert few.low < 0 < few.high
    assert 0.1 < many.low < 0.25 < many.high < 0.4
    assert judge(many, decisions=100, runs=50) == "better"
    assert judge(many, decisions=100, runs=5) == "too_few"
    assert (
        judge(paired_difference(gained=5, lost=30, number=100), decisions=100, runs=50) == "worse"
    )
    assert mean_interval([1.0]) is None
    interval = mean_interval([0.0, 1.0] * 50)
    assert interval is not None
    assert interval.low < 0.5 < interval.high
    assert interval == mean_interval([0.0, 1.0] * 50)
