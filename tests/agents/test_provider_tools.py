"""Tool calls of models over each provider's protocol: in order, with current permissions, limited in number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents_app.providers.interface import ProviderError
from tests.agents.environment import set_env
from tests.agents.talking import PROVIDERS, Said, Shelf, talking
from tests.fake_provider import Call, Reply

ANSWER = Reply({"title": "Done"})
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@each_provider
def test_the_tools_are_read_anew_before_each_request(provider: str) -> None:
    class Shrinking(Shelf):
        def call(self, name: str, arguments: Any) -> Any:
            answer = super().call(name, arguments)
            self.names = ["look"]
            return answer

    shelf = Shrinking()
    searched = Reply(calls=(Call("search"),))
    with talking(provider, searched, searched, ANSWER, toolbox=shelf) as (talk, fake):
        answer = talk.ask("A question", retries=0, seconds=20)

    assert answer.output == Said(title="Done")
    shown = [json.dumps(asked.body["tools"]) for asked in fake.asked]
    assert ["Does search." in tools for tools in shown] == [True, False, False]
    assert "Unknown tool: search." in json.dumps(fake.asked[2].body), "and the talk went on"


@each_provider
def test_calls_are_made_one_after_the_other_and_an_answer_beside_them_waits(provider: str) -> None:
    shelf = Shelf()
    both = Reply(calls=(Call("search"), Call("suggest", {"title": "Too soon"}), Call("look")))
    with talking(provider, both, ANSWER, toolbox=shelf) as (talk, fake):
        answer = talk.ask("A question", retries=0, seconds=20)

    assert answer.output == Said(title="Done")
    assert [name for name, _ in shelf.calls] == ["search", "look"]
    assert "Not taken: read first what the tools said" in json.dumps(fake.asked[1].body)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize("arguments", ['{"word": ', '["word"]', '"word"'])
def test_arguments_that_are_no_json_object_go_back_to_the_model(
    provider: str, arguments: str
) -> None:
    shelf = Shelf()
    broken = Reply(calls=(Call("look", arguments),))
    with talking(provider, broken, ANSWER, toolbox=shelf) as (talk, fake):
        answer = talk.ask("A question", retries=0, seconds=20)

    assert answer.output == Said(title="Done")
    assert shelf.calls == []
    assert "The arguments are not a JSON object." in json.dumps(fake.asked[1].body)


def test_a_model_that_sends_no_json_again_and_again_is_given_up() -> None:
    broken = Reply(calls=(Call("look", "{"),))
    wanted = pytest.raises(ProviderError, match=r"arguments that are no JSON, 5 times\.")
    with talking("openai", broken, toolbox=Shelf()) as (talk, fake), wanted:
        talk.ask("A question", retries=0, seconds=20)
    assert len(fake.asked) == 5


def test_a_call_that_google_finds_malformed_is_asked_for_again() -> None:
    broken = Reply(calls=(Call("look", "{"),))
    with talking("google", broken, ANSWER, toolbox=Shelf()) as (talk, fake):
        answer = talk.ask("A question", retries=1, seconds=20)
    assert (answer.output, answer.retried, len(fake.asked)) == (Said(title="Done"), 1, 2)


@each_provider
def test_a_model_that_never_stops_calling_tools_ends(provider: str, settings: Any) -> None:
    set_env(settings, agent_step_cap=7)
    shelf = Shelf()
    wanted = pytest.raises(ProviderError, match=r"more than 7 steps \(AGENT_STEP_CAP\)\.$")
    with talking(provider, Reply(calls=(Call("look"),)), toolbox=shelf) as (talk, fake), wanted:
        talk.ask("A question", retries=2, seconds=20)

    assert (len(fake.asked), len(shelf.calls)) == (4, 3)


@each_provider
@pytest.mark.parametrize(
    "arguments",
    [
        '{"title": "\\ud800"}',
        '{"title": ' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"title": NaN}',
        '{"title": ' + "9" * 5_000 + "}",
        '{"title": "x", "title": 3}',
    ],
    ids=["surrogate", "deep", "nan", "huge", "twice"],
)
def test_hostile_answers_are_refused_in_a_sentence(provider: str, arguments: str) -> None:
    with talking(provider, Reply(arguments=arguments)) as (talk, _), pytest.raises(ProviderError):
        talk.ask("A question", retries=0, seconds=20)
