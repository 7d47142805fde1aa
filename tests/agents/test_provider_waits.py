"""Waiting times requested by providers, compared with the run's remaining time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agents_app.providers.connection import ProviderConnection
from tests.agents.talking import PROVIDERS, Said, failure_of, talking
from tests.fake_provider import Reply

ANSWER = Reply({"title": "Done"})
each_provider = pytest.mark.parametrize("provider", PROVIDERS)
pytestmark = pytest.mark.usefixtures("no_pauses")


@each_provider
def test_the_wait_that_a_provider_asks_for_is_kept(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(ProviderConnection, "pause", lambda line, seconds: waits.append(seconds))
    busy = [Reply(status=429, retry_after="7"), Reply(status=503, retry_after="3")]
    with talking(provider, *busy, ANSWER) as (talk, _):
        answer = talk.ask("A question", retries=0, seconds=20)

    assert answer.output == Said(title="Done")
    assert waits == [7.0, 3.0]


@each_provider
def test_a_wait_may_be_a_date(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(ProviderConnection, "pause", lambda line, seconds: waits.append(seconds))
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=900), usegmt=True)
    with talking(provider, Reply(status=429, retry_after=later), ANSWER) as (talk, _):
        talk.ask("A question", retries=0, seconds=2000)
    assert 800 < waits[0] <= 900


@each_provider
@pytest.mark.parametrize(
    ("wait", "told"), [("3600", "3600 seconds"), ("9" * 30, "more than a day")]
)
def test_a_wait_beyond_the_run_ends_it_at_once(provider: str, wait: str, told: str) -> None:
    error, _, count = failure_of(provider, Reply(status=429, retry_after=wait))

    assert str(error) == (
        f"{provider} refused the request: too many requests (429). "
        f"It asks to wait {told}, which is longer than this run may take."
    )
    assert count == 1


@pytest.mark.parametrize("wait", ["soon", "-5", "nan", "\x0b"])
def test_a_wait_that_nobody_understands_is_passed_over(wait: str) -> None:
    with talking("openai", Reply(status=429, retry_after=wait), ANSWER) as (talk, _):
        assert talk.ask("A question", retries=0, seconds=20).output == Said(title="Done")
