"""A run with a model, over the provider's real protocol, against a server of this machine."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Draft
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "openai refused the API key (401). Check AI_PROVIDER_OPENAI_API_KEY."),
        (404, "openai knows no model 'gpt-6.1-terra' at this address (404)."),
        (400, "openai refused the request (400); model gpt-6.1-terra."),
    ],
)
def test_a_refusal_of_the_provider_is_told_without_its_words(
    openai: Any, status: int, reason: str
) -> None:
    openai(Reply(status=status, message=f"Incorrect API key provided: {KEY}"))

    run = execute(make.post())

    assert (run.status, run.error) == ("failed", reason)
    assert [step.ok for step in run.steps.all()] == [False]


@pytest.mark.parametrize(("status", "reason"), [(429, "too many requests"), (500, "failed (500)")])
def test_a_provider_that_stays_busy_fails_the_run(openai: Any, status: int, reason: str) -> None:
    fake = openai(Reply(status=status, message=KEY))

    run = execute(make.post())

    assert run.status == "failed"
    assert reason in run.error
    assert len(fake.asked) == 3, "the client itself tries twice more"


def test_a_busy_provider_that_recovers_does_no_harm(openai: Any) -> None:
    openai(Reply(status=429), Reply({"post": {"metaTitle": "Later"}}))

    run = execute(make.post())

    assert (run.status, run.staged) == ("succeeded", ["post.metaTitle"])


def test_no_json_from_the_provider_fails_the_run(openai: Any) -> None:
    openai(Reply(raw="<html>gateway</html>"))

    run = execute(make.post())

    assert run.status == "failed"
    assert "gateway" not in run.error


def test_a_cut_answer_says_so(openai: Any) -> None:
    openai(Reply(arguments='{"post": {"metaTi', finish="length"))

    run = execute(make.post())

    assert run.status == "failed"
    assert "maxTokens" in run.error


def test_a_slow_provider_times_out(openai: Any, settings: Any) -> None:
    openai(Reply({"post": {"metaTitle": "Too late"}}, delay=5))
    set_env(settings, agent_run_timeout=1)

    run = execute(make.post())

    assert run.status == "timed_out"
    # The call or the run can notice it first.
    assert run.error in ("openai did not answer in time.", "The time of the run is over.")
    assert not Draft.objects.exists()


def test_nobody_there_fails_the_run(settings: Any, no_pauses: None) -> None:
    set_env(
        settings,
        ai_provider_openai_api_key=KEY,
        ai_provider_openai_base_url="http://127.0.0.1:9",
        agent_run_timeout=20,
    )

    run = execute(make.post())

    assert run.status == "failed"
    assert "could not be reached" in run.error
