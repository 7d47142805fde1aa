"""Conversations with each provider over its own protocol: tools, streaming, structured answers, usage."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from typing import Any

import pytest

from agents_app.providers.interface import ProviderError, ProviderStopped
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.agents.talking import PROVIDERS, Notes, Said, Shelf, talking
from tests.fake_provider import Call, Reply

ANSWER = Reply({"title": "Done"})

PATHS = {
    "openai": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/gemini-3.8-flash:streamGenerateContent",
    "ollama": "/v1/chat/completions",
}

COSTS = {"openai": "0.0015", "anthropic": "0.003", "google": "0.001125", "ollama": "0"}

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@each_provider
def test_a_tool_is_called_and_then_the_answer_given(provider: str) -> None:
    shelf, notes = Shelf(), Notes()
    looked = Reply(calls=(Call("look", {"word": "tea"}),))
    with talking(provider, looked, ANSWER, toolbox=shelf, watcher=notes) as (talk, fake):
        answer = talk.ask("A question", retries=2, seconds=20)

    assert (answer.output, answer.retried) == (Said(title="Done"), 0)
    assert shelf.calls == [("look", {"word": "tea"})]
    assert [asked.path.partition("?")[0] for asked in fake.asked] == [PATHS[provider]] * 2
    assert "look found it." in json.dumps(fake.asked[1].body)
    assert "look found it." not in json.dumps(fake.asked[0].body)
    assert [(role, name, text.replace(" ", "")) for role, name, text in notes.words] == [
        ("system", "", "YouareAsked."),
        ("user", "", "Aquestion"),
        ("assistant", "look", '{"word":"tea"}'),
        ("tool", "look", "lookfoundit."),
        ("assistant", "suggest", '{"title":"Done"}'),
    ]
    assert notes.after == [(True, 1000, 100), (True, 1000, 100)]
    assert [step.summary for step in notes.steps] == ["1000 tokens in, 100 out"] * 2
    assert (talk.usage.input_tokens, talk.usage.output_tokens) == (2000, 200)
    assert talk.usage.cost == 2 * Decimal(COSTS[provider])
    assert [step.cost for step in notes.steps] == [Decimal(COSTS[provider])] * 2
    assert talk.usage.steps == notes.steps


@pytest.mark.parametrize(
    "text",
    ['{"title": "Done"}', '```json\n{"title": "Done"}\n```'],
    ids=["bare", "fenced"],
)
def test_an_answer_that_is_written_in_place_of_a_call_is_taken(text: str) -> None:
    with talking("ollama", Reply(text=text)) as (talk, fake):
        answer = talk.ask("A question", retries=2, seconds=20)

    assert (answer.output, answer.retried, len(fake.asked)) == (Said(title="Done"), 0, 1)


@each_provider
def test_each_request_is_announced_with_what_it_may_come_to(provider: str) -> None:
    notes = Notes()
    with talking(provider, Reply({"titel": "x"}), ANSWER, watcher=notes, maxTokens=500) as (
        talk,
        _,
    ):
        talk.ask("word " * 4000, retries=2, seconds=20)

    assert [output for _, output in notes.before] == [500, 500]
    first, second = (sent for sent, _ in notes.before)
    assert 5000 < first < 5500
    assert second > first, "what was said since counts, too"


@each_provider
def test_an_answer_is_heard_while_it_comes(provider: str) -> None:
    held = threading.Event()

    class Listening(Notes):
        def heard(self, characters: int) -> None:
            super().heard(characters)
            held.set()

    notes = Listening()
    words = Reply(text="A long introduction before any answer.", held=held)
    with talking(provider, words, ANSWER, watcher=notes) as (talk, _):
        talk.ask("A question", retries=2, seconds=20)

    assert held.is_set(), "the rest of the stream waited for it"
    assert 0 < notes.lengths[0] < len("A long introduction before any answer.")
    assert ("assistant", "", "A long introduction before any answer.") in notes.words


@each_provider
def test_stop_ends_a_request_in_the_middle(provider: str) -> None:
    held = threading.Event()
    words = Reply(text="A long introduction before any answer.", held=held)
    notes = Notes()
    with talking(provider, words, watcher=notes) as (talk, fake):

        def stop() -> None:
            fake.began.wait(20)
            talk.stop()

        threading.Thread(target=stop).start()
        with pytest.raises(ProviderStopped):
            talk.ask("A question", retries=2, seconds=20)
        held.set()

    assert len(fake.asked) == 1
    assert [ok for ok, _, _ in notes.after] == [False], "its usage is reported all the same"
    assert notes.after[0][1] > 0


@each_provider
def test_an_answer_of_the_wrong_form_goes_back_with_what_is_wrong(provider: str) -> None:
    with talking(provider, Reply({"titel": "x"}), ANSWER) as (talk, fake):
        answer = talk.ask("A question", retries=1, seconds=20)

    assert (answer.output, answer.retried) == (Said(title="Done"), 1)
    sent_back = json.dumps(fake.asked[1].body)
    assert "title: Field required" in sent_back
    assert "titel: Extra inputs are not permitted" in sent_back


@each_provider
@pytest.mark.parametrize(
    "reply",
    [Reply(text="Sure! Here it is."), Reply({"titel": "x"}), Reply(text="", usage=None)],
    ids=["words", "wrong", "nothing"],
)
def test_a_model_that_never_keeps_to_the_form_ends(provider: str, reply: Reply) -> None:
    wanted = pytest.raises(ProviderError, match="agreed form, after 3 tries")
    with talking(provider, reply) as (talk, fake), wanted:
        talk.ask("A question", retries=2, seconds=20)
    assert len(fake.asked) == 3


@each_provider
def test_a_talk_goes_on_after_an_answer(provider: str) -> None:
    with talking(provider, ANSWER, Reply({"title": "Better"})) as (talk, fake):
        talk.ask("A question", retries=0, seconds=20)
        answer = talk.ask("Mend it", retries=0, seconds=20)

    assert answer.output == Said(title="Better")
    said = json.dumps(fake.asked[1].body)
    assert said.index("A question") < said.index("Done") < said.index("Mend it")
    assert talk.usage.input_tokens == 2000


@each_provider
def test_the_key_goes_into_its_header_only(provider: str) -> None:
    with talking(provider, ANSWER) as (talk, fake):
        talk.ask("A question", retries=0, seconds=20)

    header = "x-goog-api-key" if provider == "google" else "authorization"
    assert fake.asked[0].headers[header].removeprefix("Bearer ") == KEY
    others = {name: value for name, value in fake.asked[0].headers.items() if name != header}
    assert KEY not in json.dumps([others, fake.asked[0].path, fake.asked[0].body])


def test_anthropic_is_asked_to_keep_the_instructions() -> None:
    with talking("anthropic", Reply({"title": "Done"}, cached=800), watcher=(notes := Notes())) as (
        talk,
        fake,
    ):
        talk.ask("A question", retries=0, seconds=20)

    assert fake.asked[0].body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert notes.after == [(True, 1000, 100)]
    # 200 new tokens at 2 dollars, 800 kept ones at 0.1, 100 out at 10, per million.
    assert notes.steps[0].cost == Decimal("0.00148")


def test_a_watcher_that_refuses_ends_the_talk_before_anything_is_sent() -> None:
    class Poor(Notes):
        def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
            raise ProviderError("The budget is used up.")

    notes = Poor()
    wanted = pytest.raises(ProviderError, match="The budget is used up")
    with talking("openai", ANSWER, watcher=notes) as (talk, fake), wanted:
        talk.ask("A question", retries=2, seconds=20)
    assert (fake.asked, notes.after) == ([], [])


def test_a_watcher_that_refuses_while_it_listens_ends_the_request() -> None:
    held = threading.Event()

    class Impatient(Notes):
        def heard(self, characters: int) -> None:
            raise ProviderStopped("The run was stopped.")

    notes = Impatient()
    words = Reply(text="A long introduction before any answer.", held=held)
    with talking("openai", words, watcher=notes) as (talk, _):
        with pytest.raises(ProviderStopped):
            talk.ask("A question", retries=2, seconds=20)
        held.set()
    assert [ok for ok, _, _ in notes.after] == [False]


def test_a_provider_that_does_not_say_what_it_used_is_reckoned() -> None:
    notes = Notes()
    reply = Reply({"title": "x" * 400}, usage=None)
    with talking("ollama", reply, watcher=notes) as (talk, _):
        talk.ask("word " * 400, retries=0, seconds=20)

    sent = notes.before[0][0]
    assert notes.after == [(True, sent, (400 + len('{"title": ""}')) // 4)]


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
