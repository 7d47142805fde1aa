"""The shipped agents on the sample content, with recorded answers (`recordings/README.md`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from jsonschema import Draft202012Validator

from agents_app.definitions.agents import all_agents
from agents_app.models import AgentRun
from agents_app.runs.markdown_texts import text_of_post
from content.models import Post
from content.translations.translate import propose_translation
from proofroom.core.json import Json
from tests import make
from tests.agents.asking import execute
from tests.fake_provider import Call, Reply

pytestmark = pytest.mark.django_db

RECORDINGS: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "recordings").glob("*.json"))
}
_NUMBER = re.compile(r"\d+")


def test_recorded_answers_become_what_they_should(openai: Any) -> None:
    # One test, because seeding takes seconds.
    call_command("seed", stdout=StringIO())
    for name, recording in RECORDINGS.items():
        point = transaction.savepoint()
        replay(name, recording, openai)
        transaction.savepoint_rollback(point)


def test_every_shipped_agent_has_a_recording_and_declines_in_one() -> None:
    agents = {agent.id for agent in all_agents()}
    declining = {one["agent"] for one in RECORDINGS.values() if "declined" in one["answer"]}

    assert {one["agent"] for one in RECORDINGS.values()} == agents
    assert declining == agents


def replay(name: str, recording: Any, openai: Any) -> None:
    locale, slug = recording["post"].split("/")
    post = source = Post.objects.get(locale=locale, slug=slug)
    if "translateTo" in recording:
        made = propose_translation(
            post_id=source.pk, locale=recording["translateTo"], actor=make.agent_actor("translator")
        )
        post = made.post
    before = make.layers(post).ai_review.document
    ids = {f"<{module.type}>": module.id for module in reversed(before.modules)}
    answer = json.loads(with_ids(json.dumps(recording["answer"]), ids))
    calls = tuple(Call(*call) for call in recording.get("calls", ()))
    fake = openai(*([Reply(calls=calls)] if calls else []), Reply(answer))
    given: dict[str, Any] = {"agent_id": recording["agent"]}
    if "fieldKey" in recording:
        given |= {"scope": "field", "field_key": recording["fieldKey"]}
    if "wish" in recording:
        given["open_ended_context"] = recording["wish"]

    run = execute(post, **given)

    assert (run.status, run.error) == ("succeeded", ""), name
    assert len(fake.asked) == 1 + bool(calls), name
    tools = [tool["function"] for tool in fake.asked[-1].body["tools"]]
    schema = next(tool["parameters"] for tool in tools if tool["name"] == "suggest")
    Draft202012Validator(schema).validate(answer)
    assert run.declined == answer.get("declined", ""), name
    expected = {path_of(path, ids) for path in recording["staged"]}
    assert set(run.staged) == expected, name
    judge(name, recording["agent"], answer, post, source, run)


def judge(name: str, agent: str, answer: Any, post: Post, source: Post, run: AgentRun) -> None:
    """Check what a prompt asks for and no schema can say."""
    after = make.layers(post).ai_review.document
    if agent == "seo-specialist":
        title = after.fields.get("metaTitle")
        assert not title or len(str(title)) <= 60, name
        known = set(_NUMBER.findall(text_of_post(after)))
        assert {n for text in texts_of(answer) for n in _NUMBER.findall(text)} <= known, name
    if agent == "translator" and run.staged:
        original = make.layers(source).live
        for own, other in zip(after.modules, original.modules, strict=True):
            assert kinds_of(own.props) == kinds_of(other.props), name
        assert not set(texts_of(answer)) & set(texts_of(original.to_json())), name
    if name == "assistant-shorten-introduction":
        prose = make.module_id(post, "prose")
        new, old = after.module(prose), make.layers(post).live.module(prose)
        assert new is not None
        assert old is not None
        blocks: Any = new.props["content"]
        former: Any = old.props["content"]
        assert blocks["content"][1:] == former["content"][1:]
        assert len(json.dumps(blocks["content"][0])) < len(json.dumps(former["content"][0]))


def with_ids(text: str, ids: dict[str, str]) -> str:
    for name, id_ in ids.items():
        text = text.replace(name, id_)
    return text


def path_of(path: str, ids: dict[str, str]) -> str:
    return f"modules.{with_ids(path, ids)}" if path.startswith("<") else path


def texts_of(value: Json) -> Iterator[str]:
    """Yield the texts of an answer or a document, without ids and the words about them."""
    if isinstance(value, str) and len(value) > 12:
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in ("postModuleId", "moduleInstanceId", "imageId", "summary", "slug"):
                yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)


def kinds_of(value: Any) -> list[Any]:
    """Return the structure of a value: keys, and the nodes and marks of rich text, without words."""
    if isinstance(value, dict):
        kind = value.get("type")
        marks = [mark["type"] for mark in value.get("marks") or ()]
        inner = [kinds_of(item) for name, item in sorted(value.items()) if name != "attrs"]
        return [kind if isinstance(kind, str) else "", *marks, *inner]
    return [kinds_of(item) for item in value] if isinstance(value, list) else []
