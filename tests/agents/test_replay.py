"""`manage.py replay_agent`: decided runs, asked again with the current prompt and model."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents_app.models import AgentRun, Budget, Reservation, RunMessage, Spending
from agents_app.replay import replay as replays
from agents_app.replay.answers import read_replay_input
from agents_app.replay.replay import alike
from agents_app.runs.rendered_payload import render_payload
from content.layers import approve, digest_of, reject, submit
from content.models import Layer, Post
from tests import make
from tests.agents.asking import execute, payload_of
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db

FIRST = {
    "post": {"metaTitle": "Filter coffee by hand", "excerpt": "Four minutes, one scale."},
    "summary": "Two texts.",
}


def replay(*words: str) -> dict[str, Any]:
    out = StringIO()
    call_command("replay_agent", "seo-specialist", "--json", *words, stdout=out, stderr=StringIO())
    figures: dict[str, Any] = json.loads(out.getvalue())
    return figures


def table(*words: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("replay_agent", *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def decide(post: Post, approved: list[str], rejected: list[str]) -> None:
    admin = make.actor("admin")
    if rejected:
        reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=admin, paths=rejected, note="No.")
    if approved:
        submit(post_id=post.pk, actor=admin)
        changes = make.layers(post).review.changes
        approve(post_id=post.pk, actor=admin, digest=digest_of(changes), paths=approved)


@pytest.fixture
def decided(openai: Any) -> Any:
    """Create a run whose search title was approved and whose excerpt was rejected; then the provider
    gives `replies`.
    """

    def make_it(*replies: Reply) -> tuple[AgentRun, Any]:
        fake = openai(Reply(output=FIRST), *replies)
        post = make.post()
        run = execute(post)
        assert run.status == "succeeded", run.error
        decide(post, ["post.metaTitle"], ["post.excerpt"])
        return run, fake

    return make_it


@pytest.mark.parametrize(
    ("answer", "outcomes", "agreed"),
    [
        (FIRST["post"], {"again": 1, "same": 1}, 1),
        ({"metaTitle": "Filter coffee by hand"}, {"avoided": 1, "same": 1}, 2),
        ({"metaTitle": "Filter coffee by hands"}, {"avoided": 1, "similar": 1}, 2),
        ({"metaTitle": "Tea"}, {"avoided": 1, "different": 1}, 1),
        ({"excerpt": "Something else entirely, of no likeness."}, {"avoided": 1, "missing": 1}, 1),
        ({"excerpt": "Four minutes, one scales."}, {"again": 1, "missing": 1}, 0),
        ({}, {"avoided": 1, "missing": 1}, 1),
    ],
    ids=[
        "as before",
        "approved only",
        "nearly",
        "other words",
        "other excerpt",
        "again",
        "nothing",
    ],
)
def test_agreement_is_what_was_approved_again_and_what_was_rejected_no_more(
    decided: Any, answer: dict[str, str], outcomes: dict[str, int], agreed: int
) -> None:
    decided(Reply(output={"post": answer, "summary": "Again."}))

    figures = replay()

    assert (figures["runs"], figures["decided"], figures["errors"]) == (1, 2, 0)
    assert (figures["outcomes"], figures["agreed"]) == (outcomes, agreed)
    assert figures["agreement"] == agreed / 2


def test_a_replay_uses_the_stored_input_and_the_current_prompt_and_stages_nothing(
    decided: Any,
) -> None:
    run, fake = decided(Reply(output=FIRST, usage=(700, 70)))
    post = Post.objects.get(pk=run.post_id)
    before, runs = make.live_hash(), AgentRun.objects.count()
    version = make.layers(post).ai_review.version
    spent = Spending.objects.get().tokens

    figures = replay()

    # Live content has changed through the approval; the replayed question has not.
    asked = json.dumps(fake.asked[-1].body, ensure_ascii=False)
    assert "Four minutes, one scale." not in asked
    assert "the search editor of this site" in asked
    assert make.live_hash() == before
    assert (AgentRun.objects.count(), make.layers(post).ai_review.version) == (runs, version)
    assert (figures["inputTokens"], figures["outputTokens"]) == (700, 70)
    assert Spending.objects.get().tokens == spent + 770
    assert Reservation.objects.count() == 0


def test_a_failed_answer_is_counted_and_reported(decided: Any) -> None:
    run, _ = decided(Reply(status=400, message="no"))

    figures, (_, progress) = replay(), table("seo-specialist")

    assert (figures["runs"], figures["errors"], figures["decided"]) == (1, 1, 0)
    assert f"run {run.pk} failed: openai" in progress
    assert Reservation.objects.count() == 0


def test_a_budget_ends_it_in_plain_words(decided: Any) -> None:
    decided(Reply(output=FIRST))
    Budget.objects.create(agent_id="seo-specialist", tokens_per_day=1)

    _, progress = table("seo-specialist")

    assert "failed: The budget of the agent seo-specialist" in progress


def test_answers_are_recorded_and_compared_without_asking(decided: Any, tmp_path: Path) -> None:
    run, fake = decided(Reply(output=FIRST))
    record = tmp_path / "answers.jsonl"

    asked = replay("--record", str(record))
    questions = len(fake.asked)
    again = replay("--recorded", str(record))

    assert json.loads(record.read_text()) == {"runId": str(run.pk), "answer": FIRST}
    assert len(fake.asked) == questions
    assert again["answeredBy"] == "the record answers.jsonl"
    assert (again["outcomes"], again["cost"]) == (asked["outcomes"], 0)


def test_another_model_is_asked_by_its_name(decided: Any) -> None:
    _, fake = decided(Reply(output=FIRST))

    figures = replay("--model", "openai:gpt-of-tomorrow")

    assert figures["answeredBy"] == "openai:gpt-of-tomorrow"
    assert fake.asked[-1].body["model"] == "gpt-of-tomorrow"


def test_a_run_whose_transcript_is_gone_is_left_out_and_said(decided: Any) -> None:
    run, fake = decided(Reply(output=FIRST))
    RunMessage.objects.all().delete()

    text, progress = table("seo-specialist")

    assert f"run {run.pk} skipped: its transcript is gone" in progress
    assert "0 of 0 decisions in 1 runs (1 left out, 0 failed)" in text
    assert len(fake.asked) == 1


def test_a_field_is_asked_again_too(openai: Any) -> None:
    openai(Reply(output={"value": "Brewing by hand"}))
    post = make.post()
    execute(post, scope="field", field_key="module.hero.title")
    path = f"modules.{make.module_id(post, 'hero')}.props.title"
    decide(post, [path], [])

    figures = replay()

    assert (figures["paths"], figures["agreement"]) == ({"module.props.title": {"same": 1}}, 1.0)


def test_the_table_can_be_read_and_an_undecided_run_is_nobodys(decided: Any) -> None:
    decided(Reply(output=FIRST))
    execute(make.post("Undecided"))

    text, progress = table("seo-specialist", "--last", "5")

    assert progress.startswith("1 of 1: run ")
    lines = text.strip().split("\n")
    assert lines[0].startswith("seo-specialist, answered by openai:")
    assert lines[2:4] == [
        f"{'post.excerpt':<40} 1 again",
        f"{'post.metaTitle':<40} 1 same",
    ]
    assert lines[5] == "Agreement 50%: 1 of 2 decisions in 1 runs (0 left out, 0 failed)"


def test_stopped_in_the_middle_it_tells_what_there_is(decided: Any, monkeypatch: Any) -> None:
    decided(Reply(output=FIRST))

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(replays, "read_replay_input", interrupted)

    text, progress = table("seo-specialist")

    assert "Stopped after 0 of 1." in progress
    assert "People decided on no run" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "There is no agent"),
        (["seo-specialist", "--last", "0"], "from 1 to 500"),
        (["seo-specialist", "--model", "nonsense"], "no provider:model"),
        (["seo-specialist", "--model", "openai:"], "no provider:model"),
        (["seo-specialist", "--recorded", "/nowhere/at-all"], "is not a file written by --record"),
    ],
)
def test_what_cannot_be_asked_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        table(*words)


def test_texts_are_alike_by_the_words_that_a_reader_sees() -> None:
    def document(text: str) -> Any:
        return {
            "type": "doc",
            "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}],
        }

    assert alike("One  two", "One two") == 1.0
    assert alike(document("One two"), {**document("One two"), "attrs": None}) == 1.0
    assert alike({"a": 1, "b": 2}, {"b": 2, "a": 1}) == 1.0
    assert 0.8 <= alike("Filter coffee", "Filter coffees") < 1
    assert alike("Filter coffee", "Tea") < 0.5
    assert alike(None, None) == 1.0


def test_a_translation_and_a_rich_text_field_are_replayed_from_markdown(openai: Any) -> None:
    fake = openai(
        Reply({"post": {"title": "Kaffee kochen"}, "summary": "One title."}),
        Reply({"value": "Grind **finely**."}),
    )
    source = make.post(markdown="Grind and wait.")
    german = make.post("Coffee", locale="de", translation_of=source, markdown="Mahlen.")
    runs = [
        execute(german, agent_id="translator"),
        execute(source, agent_id="proofreader", scope="field", field_key="module.prose.content"),
    ]
    assert [run.error for run in runs] == ["", ""]

    given = [
        read_replay_input(run, list(RunMessage.objects.filter(run=run).order_by("number")))
        for run in runs
    ]

    translated, field = given
    assert "source" not in translated.document.fields
    prose = next(module for module in translated.document.modules if module.type == "prose")
    assert prose.props == make.layers(german).live.module(prose.id).props
    assert translated.proposed == {"post.title": "Kaffee kochen"}
    (module,) = field.document.modules
    assert module.props == make.layers(source).live.module(module.id).props
    assert list(field.proposed) == [f"modules.{module.id}.props.content"]
    for one, asked in zip(given, fake.asked, strict=True):
        assert render_payload(one.payload) == payload_of(asked)
