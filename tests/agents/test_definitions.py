"""Agents as files: valid content, and the handling of broken files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import agents_for, all_agents, get_agent
from tests import make
from tests.agents.environment import set_env, write_agent
from tests.definition_checks import definition_errors

GOOD = """---
name: Good
llmConfig:
  providerText: openai
  modelText: gpt-5-mini
  providerMedia: google
  modelMedia: gemini-3.1-flash-image
  provider: anthropic
  model: claude-haiku-5-5
  apiKey: sk-in-a-file
  options: {temperature: 0.2, maxTokens: 500}
  useMCP: true
  allowedMCPTools: [get_agent_run]
scopes:
  - {scope: dropdown, order: 3, enabled: true}
  - {scope: field, order: 1, fieldTypes: [media], fieldKeys: [post.featuredMediaId]}
  - {scope: form.submit, order: 2, formSlugs: [contact]}
reactions:
  - {type: webhook, trigger: always, config: {url: "https://example.com", bodyTemplate: "{{agent}}"}}
  - type: chat
    trigger: on_condition
    condition: {field: result.status, operator: equals, value: ok}
    config: {webhookUrl: "https://example.com", channel: "#news", template: "{{data.postId}}"}
  - {type: mcp_tool, trigger: on_success, config: {toolName: get_agent_run, toolParams: {runId: "{{run}}"}}}
userAccount: {enabled: true, email: good@example.com, createAtBoot: false}
openEndedContext: {enabled: true, label: L, placeholder: P, maxChars: 10}
---
You are {{agent}}.
"""


def test_every_field_of_the_specification_is_read(agents_dir: Path) -> None:
    (agents_dir / "good.md").write_text(GOOD)
    definitions.reload()

    agent = get_agent("good")

    assert definition_errors() == []
    assert agent is not None
    assert agent.llm_config.system_prompt == "You are {{agent}}."
    assert agent.llm_config.model_media == "gemini-3.1-flash-image"
    assert agent.llm_config.options.max_tokens == 500
    assert agent.llm_config.allowed_mcp_tools == ("get_agent_run",)
    assert [reaction.type for reaction in agent.reactions] == ["webhook", "chat", "mcp_tool"]
    assert agent.user_account.create_at_boot is False
    assert agent.open_ended_context.max_chars == 10
    assert "sk-in-a-file" not in repr(agent)


def test_json_holds_the_same_fields(agents_dir: Path) -> None:
    values = {
        "id": "as-json",
        "name": "As JSON",
        "llmConfig": {"systemPrompt": "Hello"},
        "scopes": [{"scope": "global"}],
    }
    (agents_dir / "as-json.json").write_text(json.dumps(values))
    definitions.reload()

    agent = get_agent("as-json")

    assert agent is not None
    assert (agent.name, agent.llm_config.system_prompt, agent.enabled) == ("As JSON", "Hello", True)


def test_a_later_folder_replaces_an_agent(agents_dir: Path) -> None:
    write_agent(agents_dir, "proofreader", "global")
    definitions.reload()

    agent = get_agent("proofreader")

    assert agent is not None
    assert [entry.scope for entry in agent.scopes] == ["global"]
    assert [agent.id for agent in all_agents()].count("proofreader") == 1


@pytest.mark.parametrize(
    ("name", "text", "field", "reason"),
    [
        ("typo.md", GOOD.replace("useMCP", "useMcp"), "llmConfig.useMcp", "not permitted"),
        ("snake.md", GOOD.replace("modelText", "model_text"), "llmConfig.model_text", "not permitted"),
        ("scope.md", GOOD.replace("scope: dropdown", "scope: dropdwn"), "scopes.0.scope", "'dropdown'"),
        ("heat.md", GOOD.replace("temperature: 0.2", "temperature: hot"), "llmConfig.options.temperature", "number"),
        ("lists.md", GOOD.replace("order: 3,", "order: 3, fieldKeys: [x],"), "scopes.0", "only for the scope field"),
        ("twice.md", GOOD.replace("scope: form.submit", "scope: dropdown").replace("formSlugs: [contact]", ""),
         "scopes", "listed twice"),
        ("other.md", GOOD.replace("name: Good", "id: another\nname: Good"), "id", "'another'"),
        ("Bad_Name.md", GOOD, "id", "pattern"),
        ("empty.md", "---\nname: x\nscopes: [{scope: global}]\n---\n", "llmConfig.systemPrompt", "required"),
        ("nowhere.md", "---\nname: x\nscopes: []\n---\nHello", "scopes", "has no scope"),
        ("one.md", "---\nname: x\nscopes: [{scope: anywhere}]\n---\nHello", "scopes.0.scope", "'dropdown'"),
        ("yaml.md", "---\nname: [x\n---\nHello", "front matter", "YAML"),
        ("open.md", "---\nname: x\n", "front matter", "second line"),
        ("bare.md", "Hello", "front matter", "begin with"),
        ("broken.json", "{", "file", "JSON"),
        ("list.json", "[]", "file", "fields by name"),
        ("tool.md", GOOD.replace("[get_agent_run]", "[get_agent_run, get_agent_runn]"),
         "llmConfig.allowedMCPTools", "no tool"),
    ],
)  # fmt: skip
def test_a_broken_file_is_a_check_error_that_names_file_field_and_reason(
    agents_dir: Path, name: str, text: str, field: str, reason: str
) -> None:
    (agents_dir / name).write_text(text)

    errors = definition_errors()

    assert len(errors) == 1, errors
    assert errors[0].startswith(f"{agents_dir / name}: {field}")
    assert reason in errors[0]
    assert "sk-in-a-file" not in errors[0]
    # The site continues with the others.
    assert get_agent("seo-specialist") is not None


@pytest.mark.parametrize(
    "line",
    ['apiKey: "sk-canary-1', "apiKey: *sk-canary-1", "apiKey: !sk-canary-1 x"],
    ids=["quote", "alias", "tag"],
)
def test_a_broken_file_is_named_with_its_line_and_never_with_the_key_in_it(
    agents_dir: Path, line: str
) -> None:
    (agents_dir / "broken.md").write_text(f"---\nname: A\nllmConfig:\n  {line}\n---\nx\n")
    definitions.reload()

    (error,) = definition_errors()

    assert "broken.md: front matter: it is no YAML: " in error
    assert "in line " in error
    assert "sk-canary" not in error


def test_a_broken_replacement_does_not_bring_the_replaced_agent_back(agents_dir: Path) -> None:
    (agents_dir / "proofreader.md").write_text("nonsense")
    definitions.reload()

    assert get_agent("proofreader") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("[media]", "[medai]"), "scopes.1.fieldTypes: there is no field type 'medai'"),
        (GOOD.replace("post.featuredMediaId", "post.picture"),
         "scopes.1.fieldKeys: there is no post field as in 'post.picture'"),
        (GOOD.replace("post.featuredMediaId", "module.heroo.title"),
         "scopes.1.fieldKeys: 'module.heroo.title' is not a field; use post.<field> or module.<type>.<prop>"),
        (GOOD.replace("post.featuredMediaId", "module.hero.titel"),
         "scopes.1.fieldKeys: hero has no prop as in 'module.hero.titel'"),
    ],
    ids=["field type", "post field", "module", "prop"],
)  # fmt: skip
def test_a_name_that_nobody_knows_is_a_warning_and_the_agent_stays(
    agents_dir: Path, text: str, said: str
) -> None:
    (agents_dir / "good.md").write_text(text)

    (warning,) = run_checks(tags=["definitions"])

    assert (warning.id, warning.msg) == ("agents_app.W001", f"{agents_dir / 'good.md'}: {said}")
    assert get_agent("good") is not None


@pytest.mark.django_db
def test_a_form_that_is_not_there_is_looked_for_where_the_database_is_checked(
    agents_dir: Path,
) -> None:
    (agents_dir / "good.md").write_text(GOOD)
    definitions.reload()

    def found() -> list[str]:
        messages = run_checks(tags=["database"], databases=["default"])
        return [item.msg for item in messages if item.id == "agents_app.W001"]

    before = found()
    make.form("contact")

    assert before == [f"{agents_dir / 'good.md'}: scopes.2.formSlugs: there is no form 'contact'"]
    assert found() == []


def test_unreadable_bytes_are_a_check_error(agents_dir: Path) -> None:
    (agents_dir / "bytes.md").write_bytes(b"---\nname: \xff\n---\n")

    assert "cannot be read" in definition_errors()[0]


def test_agents_of_a_scope_come_in_ascending_order(agents_dir: Path) -> None:
    write_agent(agents_dir, "late", "post.publish@9")
    write_agent(agents_dir, "early", "post.publish@-1")
    write_agent(agents_dir, "between", "post.publish@2", "global")
    definitions.reload()

    assert [agent.id for agent in agents_for("post.publish")] == ["early", "between", "late"]


def test_fields_and_forms_limit_an_agent(agents_dir: Path) -> None:
    (agents_dir / "good.md").write_text(GOOD)
    definitions.reload()

    def serves(**asked: Any) -> bool:
        scope = "form.submit" if "form_slug" in asked else "field"
        return "good" in [agent.id for agent in agents_for(scope, **asked)]

    assert serves(field_type="media", field_key="post.featuredMediaId")
    assert not serves(field_type="text", field_key="post.featuredMediaId")
    assert not serves(field_type="media", field_key="post.title")
    assert serves(form_slug="contact")
    assert not serves(form_slug="newsletter")


def test_a_changed_file_is_read_again_in_debug_only(agents_dir: Path, settings: Any) -> None:
    path = write_agent(agents_dir, "changing", "global")
    definitions.reload()
    assert get_agent("changing") is not None

    path.write_text(path.read_text().replace("name: changing", "name: Changed"))
    os.utime(path, ns=(1, 1))
    before = get_agent("changing")
    settings.DEBUG = True
    after = get_agent("changing")

    assert before is not None
    assert after is not None
    assert (before.name, after.name) == ("changing", "Changed")


def test_the_shipped_agents_are_sound() -> None:
    assert definition_errors() == []
    scopes = {agent.id: [entry.scope.value for entry in agent.scopes] for agent in all_agents()}
    assert scopes == {
        "general-assistant": ["dropdown", "global", "field"],
        "illustrator": ["dropdown", "field"],
        "proofreader": ["dropdown", "posts.bulk", "field"],
        "seo-specialist": ["dropdown", "posts.bulk", "field"],
        "translator": ["dropdown", "posts.bulk", "post.create-translation"],
    }
    taking_words = {agent.id for agent in all_agents() if agent.open_ended_context.enabled}
    assert taking_words == {"general-assistant", "illustrator", "seo-specialist", "translator"}
    for agent in all_agents():
        prompt = agent.llm_config.system_prompt
        names = set(re.findall(r"\{\{(\w+)\}\}", prompt))
        # Data does not stand among instructions, and what differs by run would begin another prefix.
        assert names == {"agent"}
        assert "What you will not do: " in prompt


def test_a_folder_that_is_not_there_is_no_error(settings: Any, tmp_path: Path) -> None:
    set_env(settings, cms_agents_dir=tmp_path / "nowhere")

    assert get_agent("seo-specialist") is not None
