"""Failures of each provider over its own protocol: a clear sentence without technical details, nothing
half used.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from agents_app.providers.connection import ProviderConnection
from agents_app.providers.interface import ProviderError, ProviderTimeout
from tests.agents.asking import KEY
from tests.agents.talking import MODELS, PROVIDERS, Notes, Said, failure_of, talking
from tests.fake_provider import Reply, anthropic_wire, gemini_wire, openai_wire

ANSWER = Reply({"title": "Done"})

each_provider = pytest.mark.parametrize("provider", PROVIDERS)

pytestmark = pytest.mark.usefixtures("no_pauses")


@each_provider
@pytest.mark.parametrize(
    ("status", "sentence", "asked"),
    [
        (400, "{provider} refused the request (400); model {model}.", 1),
        (401, "{provider} refused the API key (401). Check AI_PROVIDER_{PROVIDER}_API_KEY.", 1),
        (403, "{provider} refused the API key (403). Check AI_PROVIDER_{PROVIDER}_API_KEY.", 1),
        (404, "{provider} knows no model '{model}' at this address (404).", 1),
        (
            429,
            "{provider} refused the request: too many requests, or the quota is used up (429).",
            3,
        ),
        (500, "{provider} failed (500). Try again later.", 3),
        (529, "{provider} failed (529). Try again later.", 3),
    ],
)
def test_an_error_of_the_provider(provider: str, status: int, sentence: str, asked: int) -> None:
    reply = Reply(status=status, message=f"Incorrect API key provided: {KEY}")
    error, notes, count = failure_of(provider, reply)

    assert str(error) == sentence.format(
        provider=provider, model=MODELS[provider], PROVIDER=provider.upper()
    )
    assert count == asked, "the vendors' own packages try nothing again"
    assert notes.after == [(False, 0, 0)] * asked, "what was refused costs nothing"


@each_provider
@pytest.mark.parametrize(
    "reply",
    [Reply(status=429), Reply(status=503), Reply(dropped=True), Reply({"title": "Half"}, torn=3)],
    ids=["busy", "down", "dropped", "torn"],
)
def test_what_passes_is_tried_again(provider: str, reply: Reply) -> None:
    notes = Notes()
    with talking(provider, reply, ANSWER, watcher=notes) as (talk, fake):
        answer = talk.ask("A question", retries=0, seconds=20)

    assert (answer.output, answer.retried) == (Said(title="Done"), 0)
    assert [ok for ok, _, _ in notes.after] == [False, True]
    assert fake.asked[0].body == fake.asked[1].body, "the very same request"


ENDINGS = {"openai": 3, "ollama": 3, "anthropic": 2, "google": 1}
"""The last events of a stream, with the reason of its end and the usage."""


def before_the_end(provider: str) -> int:
    wire = {"anthropic": anthropic_wire, "google": gemini_wire}.get(provider, openai_wire)
    events = wire.events(Reply({"title": "Half"}), {"model": "m"})
    return len(events) - ENDINGS[provider]


@each_provider
@pytest.mark.parametrize("how", ["cut", "torn", "dropped"])
def test_an_answer_without_its_end_is_never_used(provider: str, how: str) -> None:
    place = True if how == "dropped" else before_the_end(provider)
    error, notes, count = failure_of(provider, Reply({"title": "Half"}, **{how: place}))

    sentence = f"The answer of {provider} broke off before its end. Nothing of it was used."
    assert (str(error), error.worked, count) == (sentence, True, 3)
    assert [ok for ok, _, _ in notes.after] == [False] * 3
    assert all(sent > 0 for _, sent, _ in notes.after), "the provider may have worked for us"


@each_provider
def test_a_refusal_of_the_model(provider: str) -> None:
    error, notes, count = failure_of(provider, Reply(refusal=f"I will not say {KEY}."))

    assert (
        str(error) == f"{provider} refused to answer because of its safety rules or content filter."
    )
    assert (count, notes.after) == (1, [(False, 1000, 100)])


@pytest.mark.parametrize(
    ("provider", "finish"),
    [
        ("openai", "content_filter"),
        ("ollama", "content_filter"),
        ("anthropic", "refusal"),
        ("google", "SAFETY"),
        ("google", "PROHIBITED_CONTENT"),
    ],
)
def test_an_answer_that_a_filter_ended_is_not_used(provider: str, finish: str) -> None:
    error, _, count = failure_of(provider, Reply({"title": "Half"}, finish=finish))
    assert "content filter" in str(error)
    assert count == 1


@each_provider
def test_an_answer_that_was_cut_off_at_its_most_tokens(provider: str) -> None:
    error, _, count = failure_of(provider, Reply({"title": "Half"}, finish="length"))
    sentence = f"The answer of {provider} was cut off; raise maxTokens in the agent's options."
    assert (str(error), count) == (sentence, 1)


@each_provider
@pytest.mark.parametrize("raw", ["<html>gateway</html>", "{", ""])
def test_no_answer_of_the_providers_form(provider: str, raw: str) -> None:
    error, _, _ = failure_of(provider, Reply(raw=raw + KEY if raw else raw))
    assert str(error) in (
        f"{provider} answered with something that cannot be read.",
        f"The answer of {provider} broke off before its end. Nothing of it was used.",
    )


@each_provider
def test_a_provider_that_is_too_slow(provider: str) -> None:
    error, notes, _ = failure_of(provider, Reply({"title": "Late"}, delay=3), seconds=0.5)

    assert isinstance(error, ProviderTimeout)
    assert (str(error), error.worked) == (f"{provider} did not answer in time.", True)
    assert [ok for ok, _, _ in notes.after] == [False]
    assert notes.after[0][1] > 0, "it may still work for us"


@each_provider
def test_a_stalled_stream(provider: str) -> None:
    held = threading.Event()
    reply = Reply(text="A long introduction before any answer.", held=held)
    error, _, _ = failure_of(provider, reply, seconds=1)
    held.set()
    assert isinstance(error, ProviderTimeout)


@pytest.mark.parametrize(
    ("provider", "status", "message", "sentence"),
    [
        ("anthropic", 400, "prompt is too long: 300000 tokens", "more text than"),
        ("anthropic", 400, "Your credit balance is too low", "is used up (400)"),
    ],
)
def test_a_limit_error_names_the_limit(
    provider: str, status: int, message: str, sentence: str
) -> None:
    error, _, count = failure_of(provider, Reply(status=status, message=message))
    assert sentence in str(error)
    assert count == 1


def test_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    with talking("openai", ANSWER, watcher=notes) as (talk, _):
        pass
    with pytest.raises(ProviderError) as caught:
        talk.ask("A question", retries=0, seconds=20)
    assert str(caught.value).startswith("openai could not be reached.")
    assert notes.after == [(False, 0, 0)] * 3


def test_an_answer_without_an_end_in_sight_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_app.providers.model_requests._ANSWER_MAX", 100)
    error, _, count = failure_of("openai", Reply(text="word " * 100))
    assert (str(error), count) == ("The answer is too long.", 1)


@each_provider
@pytest.mark.parametrize("status", [200, 500])
def test_an_event_or_error_without_an_end_does_not_fill_the_memory(
    provider: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_app.providers.connection.MAX_ANSWER_BYTES", 100_000)
    error, notes, count = failure_of(provider, Reply(status=status, raw="data: " + "x" * 200_000))
    assert (str(error), error.worked, count) == ("The answer is too long.", True, 1)
    assert [ok for ok, _, _ in notes.after] == [False]


@each_provider
def test_what_no_model_can_use_is_counted_as_the_most(provider: str) -> None:
    notes = Notes()
    reply = Reply({"title": "Done"}, usage=(10**18, 10**18))
    with talking(provider, reply, watcher=notes) as (talk, _):
        talk.ask("A question", retries=0, seconds=20)
    assert notes.after == [(True, 10_000_000, 10_000_000)]


def test_talks_at_once_do_not_disturb_each_other() -> None:
    answers: dict[str, Any] = {}

    def talk_of(provider: str, title: str) -> None:
        with talking(provider, Reply({"titel": title}), Reply({"title": title})) as (talk, _):
            answers[title] = talk.ask("A question", retries=1, seconds=60).output

    threads = [
        threading.Thread(target=talk_of, args=(provider, f"{provider} {number}"))
        for provider in PROVIDERS
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == {
        f"{provider} {number}": Said(title=f"{provider} {number}")
        for provider in PROVIDERS
        for number in range(3)
    }


@each_provider
def test_a_providers_retry_after_is_respected(
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
        f"It asks to wait {told}, which exceeds the time limit of this run."
    )
    assert count == 1


@pytest.mark.parametrize("wait", ["soon", "-5", "nan", "\x0b"])
def test_an_invalid_retry_after_is_ignored(wait: str) -> None:
    with talking("openai", Reply(status=429, retry_after=wait), ANSWER) as (talk, _):
        assert talk.ask("A question", retries=0, seconds=20).output == Said(title="Done")
