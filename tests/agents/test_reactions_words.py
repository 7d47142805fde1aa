"""Templates of reactions: JSON stays valid with any text, and texts in chats stay inert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.checks import run_checks
from hypothesis import given
from hypothesis import strategies as st

from agents_app.definitions.reaction_templates import fill_body, fill_params, find_body_fault
from proofroom.core.json import JsonObject
from tests.agents.environment import set_env
from tests.agents.reactions import chat, ended, outcomes, tool, webhook, write_reacting
from tests.conftest import RunOnCommit
from tests.receiver import Receiver

NASTY = 'He said "no" \\ {{agent}}\n\t\u2028 é 😀 </script>'
VALUES: JsonObject = {
    "agent": {"id": "a", "name": 'The "A"'},
    "run": {"id": "r-1"},
    "result": {"summary": NASTY, "value": {"k": [1, None, NASTY]}, "cost": None, "n": 3},
    "data": {"postId": "p-1"},
}
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("{{agent}}", 'The "A"'),
        ("{{ result.value }}", {"k": [1, None, NASTY]}),
        ('{"r": {{result.value}}}', {"r": {"k": [1, None, NASTY]}}),
        ('{"r": "{{result.summary}}"}', {"r": NASTY}),
        ('{"r": {{result.summary}}, "n": {{result.n}}}', {"r": NASTY, "n": 3}),
        ('{"t": "{{agent}}: {{result.n}}, {{result.cost}}!"}', {"t": 'The "A": 3, !'}),
        ('{"t": "\\"{{agent}}\\" \\\\", "u": {{run}}}', {"t": '"The "A"" \\', "u": "r-1"}),
        ('{"missing": {{result.nowhere}}, "m": "{{result.nowhere}}"}', {"missing": None, "m": ""}),
        ('[{{data.postId}}, "{{agent.id}}"]', ["p-1", "a"]),
        ('{"{{agent.id}}": 1}', {"a": 1}),
    ],
)
def test_a_json_template_makes_json_whatever_the_words(template: str, made: Any) -> None:
    body, content_type = fill_body(template, VALUES)

    assert (json.loads(body), content_type) == (made, JSON)


def test_a_value_between_quotes_is_a_text_and_a_free_one_is_itself() -> None:
    body, _ = fill_body('{"text": "{{result.value}}", "value": {{result.value}}}', VALUES)

    found = json.loads(body)
    assert json.loads(found["text"]) == found["value"] == VALUES["result"]["value"]


def test_a_template_that_is_no_json_is_plain_text() -> None:
    body, content_type = fill_body("{{agent}} is done: {{result.n}}", VALUES)

    assert (body.decode(), content_type) == ('The "A" is done: 3', TEXT)


@given(st.text(), st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=5))
def test_no_word_breaks_out_of_its_place(words: str, value: Any) -> None:
    values: JsonObject = {"result": {"summary": words, "value": value}}
    template = '{"a": "{{result.summary}}", "b": {{result.value}}, "c": ["{{result.value}}", true]}'

    found = json.loads(fill_body(template, values)[0])

    assert (found["b"], found["c"][1], len(found)) == (value, True, 3)
    assert found["a"] == words.encode("utf-8", "replace").decode()


def test_parameters_of_tools_keep_their_types() -> None:
    made = fill_params(
        {
            "a": "{{result.value}}",
            "b": ["{{run}}", "x {{agent}}"],
            "c": 1,
            "d": {"e": "{{result.n}}"},
        },
        VALUES,
    )

    assert made == {
        "a": {"k": [1, None, NASTY]},
        "b": ["r-1", 'x The "A"'],
        "c": 1,
        "d": {"e": 3},
    }


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ('{"a": {{result}}', "it is no JSON"),
        ('{"a": {{result}} {{agent}}}', "it is no JSON"),
        ('["\\{{agent}}"]', "it is no JSON"),
        ("{{secret.crm}}", "must begin with one of: agent, data, result, run"),
        ("{{result..x}}", "is no path"),
        ("{{result}}", ""),
        ("{{agent}} is done", ""),
        ('{"a": "{{agent}}"}', ""),
    ],
)
def test_a_template_that_cannot_work_is_refused(template: str, fault: str) -> None:
    found = find_body_fault(template)

    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("reaction", "where", "words"),
    [
        (webhook("ftp://example.com"), "config.url", "http"),
        (webhook("http://127.0.0.1/"), "config.url", "127.0.0.1"),
        (webhook("https://example.com", method="TRACE"), "config.method", "POST"),
        (webhook("https://example.com", method="GET", bodyTemplate="{}"), "config", "no body"),
        (
            webhook("https://example.com", headers={"A": "b\r\nC: d"}),
            "config.headers",
            "line breaks",
        ),
        (
            webhook("https://example.com", headers={"Host": "x"}),
            "config.headers",
            "set automatically",
        ),
        (
            webhook("https://example.com", headers={"Authorization": "Bearer x"}),
            "config.headers",
            "WORKFLOW_SECRETS",
        ),
        (
            webhook("https://example.com", headers={"A": "{{secret.none}}"}),
            "config.headers",
            "no value named 'none'",
        ),
        (
            webhook("https://example.com", bodyTemplate="{{post}}"),
            "config.bodyTemplate",
            "must begin with one of",
        ),
        (chat("{{user}}"), "config.template", "one of: agent, data, result, run"),
        (chat("x", webhookUrl="https://"), "config.webhookUrl", ""),
        (tool("list_agents", scope="{{odd}}"), "config.toolParams", "must begin with one of"),
        (tool("no_such_tool"), "config.toolName", "there is no tool 'no_such_tool'"),
        (
            {
                **chat("x", "on_condition"),
                "condition": {"field": "post.title", "operator": "exists"},
            },
            "condition",
            "must begin with one of",
        ),
    ],
)
def test_a_check_names_what_is_wrong_in_a_reaction(
    agents_dir: Path, reaction: Any, where: str, words: str
) -> None:
    write_reacting(agents_dir, reaction)

    [error] = run_checks(tags=["definitions"])

    assert error.msg.startswith(f"{agents_dir / 'reactor.json'}: reactions.0.")
    assert where in error.msg
    assert words in error.msg


def test_a_reaction_whose_tool_is_not_on_the_agents_list_is_an_error(agents_dir: Path) -> None:
    write_reacting(agents_dir, tool("run_agent"), useMCP=True, allowedMCPTools=["list_agents"])

    [error] = run_checks(tags=["definitions"])

    assert "reactions.0.config.toolName: 'run_agent' is not in allowedMCPTools" in error.msg


def test_a_tool_whose_permission_agents_never_have_is_named(agents_dir: Path) -> None:
    write_reacting(
        agents_dir,
        tool("list_posts"),
        useMCP=True,
        allowedMCPTools=["list_posts", "simulate_webhook_event"],
    )

    messages = run_checks(tags=["definitions"])

    [doubt] = [one for one in messages if "simulate_webhook_event" in one.msg]
    assert (
        "llmConfig.allowedMCPTools: 'simulate_webhook_event' needs the permission webhooks.manage"
        in doubt.msg
    )
    assert not doubt.is_serious()
    assert "simulate_webhook_event" not in str(doubt.hint)


EVIL = (
    "![x](https://evil.example/?q=1) <https://evil.example|click> <!channel> @here #general "
    "<img src=https://evil.example/?q=1> www.evil.example *bold* `code`\nNew line\u202e"
)


@pytest.mark.django_db
def test_threat_36_no_word_of_a_model_does_anything_in_a_chat(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    template = "*{{agent}}* on <https://example.com/{{result.slug}}|the post>: {{result.summary}} ({{run.url}})"
    write_reacting(agents_dir, chat(template, webhookUrl=receiver.url("/chat"), channel="#editors"))

    with run_on_commit():
        run = ended(summary=EVIL)

    [seen] = receiver.at("/chat")
    said = seen.json()
    assert (said["channel"], set(said)) == ("#editors", {"text", "channel"})
    words = said["text"].partition("|the post>: ")[2].partition(" (http")[0]
    assert said["text"].startswith("*The “Reactor”* on <https://example.com/")
    assert said["text"].endswith(f"/admin/agents_app/agentrun/{run.pk}/change/)")
    assert not set("<>@#[]*`|:\n\u202e") & set(words)
    assert "evil.example" not in words, "a name with a dot becomes a link"
    assert outcomes(run) == [(1, "chat", "succeeded", 1, "")]


@pytest.mark.django_db
def test_a_chat_reaction_goes_to_the_chat_of_the_service_unless_it_names_one(
    receiver: Receiver, agents_dir: Path, run_on_commit: RunOnCommit, settings: Any
) -> None:
    set_env(settings, chat_webhook_url=receiver.url("/services/canary-of-the-chat"), chat_events=())
    write_reacting(agents_dir, chat("{{data.postId}}"))
    with run_on_commit():
        run = ended()
    [seen] = receiver.at("/services/canary-of-the-chat")
    assert seen.json() == {"text": str(run.post_id)}

    set_env(settings, chat_webhook_url=None)
    with run_on_commit():
        run = ended(post=None)
    sentence = "The reaction has no webhookUrl, and CHAT_WEBHOOK_URL is not set."
    assert outcomes(run) == [(1, "chat", "cancelled", 1, sentence)]


def test_the_example_of_the_documentation_is_sound(agents_dir: Path, settings: Any) -> None:
    set_env(settings, workflow_secrets={"crm": "of-the-crm"})
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "reactions.md"
    example = page.read_text().partition("```yaml\nreactions:")[2].partition("```")[0]
    reactions = yaml.safe_load(example)

    write_reacting(agents_dir, *reactions)

    assert [reaction["type"] for reaction in reactions] == ["webhook", "chat", "mcp_tool"]
    assert run_checks(tags=["definitions"]) == []
