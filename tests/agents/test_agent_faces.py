"""Agents over the API and in the admin: shown and hidden data, and switching them on and off."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.admin.field_labels import field_type_label, path_label
from agents_app.definitions import agents as definitions
from agents_app.models import AgentRun, AgentSwitch
from agents_app.runs import execution
from agents_app.runs.creation import create_run
from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.core.models import Event
from proofroom.definitions import FieldType
from tests import make
from tests.agents.asking import KEY
from tests.agents.environment import set_env, write_agent
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db

LIST = "/admin/agents_app/agentswitch/"
KEYED = """---
name: Keyed
description: Has all that a file may hold.
llmConfig:
  providerText: openai
  modelText: gpt-of-the-file
  providerMedia: google
  apiKey: sk-of-the-file-123456
  options: {temperature: 0.25, maxTokens: 1500}
  useMCP: true
  allowedMCPTools: [search_media, generate_image, simulate_webhook_event]
scopes:
  - {scope: dropdown, order: 5}
  - {scope: field, order: 6, fieldTypes: [media, nonsense], fieldKeys: [post.titel, module.hero.title]}
  - {scope: form.submit, formSlugs: [nowhere], enabled: false}
reactions:
  - {type: webhook, trigger: on_error, config: {url: "https://user:pass@hooks.example.com/secret-path"}}
  - type: chat
    trigger: on_condition
    condition: {field: result.status, operator: not_equals, value: succeeded}
    config: {webhookUrl: "https://chat.example.com/T0/secret", template: "{{agent}}"}
userAccount: {username: keyed-robot}
openEndedContext: {enabled: true, label: "For whom?", maxChars: 10}
---
The words of the prompt.
"""
SECRETS = (KEY, "sk-of-the-file-123456", "secret-path", "T0/secret", "pass@")


@pytest.fixture
def keyed(agents_dir: Path) -> Path:
    path = agents_dir / "keyed.md"
    path.write_text(KEYED.replace("user:pass@", ""))
    definitions.reload()
    return path


def send(client: Client, agent_id: str, body: Any) -> Any:
    return client.patch(f"/api/agents/{agent_id}", body, content_type="application/json")


def test_one_agent_says_who_would_answer_and_what_it_may_use(signed_in: Any, keyed: Path) -> None:
    answer = signed_in().get("/api/agents/keyed")

    body = answer.json()
    assert answer.status_code == 200
    assert {name: body[name] for name in ("id", "enabled", "definedIn", "tools", "reactions")} == {
        "id": "keyed",
        "enabled": True,
        "definedIn": "CMS_AGENTS_DIR/keyed.md",
        "tools": ["generate_image", "search_media"],
        "reactions": 2,
    }
    assert body["text"] == {"provider": "openai", "model": "gpt-of-the-file", "problem": None}
    assert body["media"] == {"provider": "demo", "model": "demo", "problem": None}
    assert body["account"] == {"state": "missing", "username": "keyed-robot"}
    assert body["doubts"] == [
        "llmConfig.allowedMCPTools: 'simulate_webhook_event' needs the permission "
        "webhooks.manage, which agents never have, so the agent does not get this tool",
        "scopes.1.fieldTypes: there is no field type 'nonsense'",
        "scopes.1.fieldKeys: there is no post field as in 'post.titel'",
        "scopes.2.formSlugs: there is no form 'nowhere'",
    ]
    text = answer.content.decode()
    assert not [
        secret
        for secret in (*SECRETS, "The words of the prompt", str(keyed.parent))
        if secret in text
    ]


def test_what_keeps_an_agent_from_answering_is_said(
    signed_in: Any, settings: Any, agents_dir: Path
) -> None:
    write_agent(agents_dir, "elsewhere", "dropdown", extra="llmConfig: {providerText: anthropic}")
    set_env(settings, ai_provider_openai_api_key=KEY)
    user = ensure_agent_user(agent_id="elsewhere")
    User.objects.filter(pk=user.pk).update(is_active=False)

    body = signed_in().get("/api/agents/elsewhere").json()
    page = signed_in().get(f"{LIST}elsewhere/change/").content.decode()

    assert body["text"]["provider"] == "anthropic"
    assert body["text"]["problem"].startswith(
        "The agent elsewhere uses anthropic, which has no key."
    )
    assert body["account"] == {"state": "off", "username": "agent:elsewhere"}
    assert "which has no key" in page
    assert "The account is turned off, so the agent cannot write anything" in page


def test_an_admin_switches_an_agent_and_everybody_hears_of_it(signed_in: Any) -> None:
    admin = signed_in("admin")

    off = send(admin, "proofreader", {"enabled": False})
    listed = [agent["id"] for agent in admin.get("/api/agents").json()["data"]]
    back = send(admin, "proofreader", {**off.json(), "enabled": True, "name": "Ignored"})

    assert (off.status_code, off.json()["enabled"]) == (200, False)
    assert "proofreader" not in listed
    assert (back.json()["enabled"], back.json()["name"]) == (True, "Proofreader")
    events = Event.objects.filter(name="agent.switched").order_by("pk")
    assert [event.payload["enabled"] for event in events] == [False, True]


@pytest.mark.parametrize(
    "body", [{}, {"enabled": 0}, {"enabled": None}, {"enabled": False, "prompt": "x"}, []]
)
def test_a_wrong_switch_changes_nothing(signed_in: Any, body: Any) -> None:
    answer = send(signed_in("admin"), "proofreader", body)

    assert (answer.status_code, AgentSwitch.objects.count()) == (422, 0)


@pytest.mark.parametrize("agent_id", ["%00", "UPPER", "x" * 300, "a%2Fb"])
def test_an_unknown_agent_is_404(signed_in: Any, agent_id: str) -> None:
    admin = signed_in("admin")

    assert admin.get(f"/api/agents/{agent_id}").status_code == 404
    assert send(admin, agent_id, {"enabled": True}).status_code == 404
    assert admin.get(f"{LIST}{agent_id}/change/").status_code == 404
    assert AgentSwitch.objects.count() == 0


def test_the_pages_show_the_file_and_never_a_key(
    signed_in: Any, keyed: Path, settings: Any
) -> None:
    set_env(settings, ai_provider_openai_api_key=KEY)
    admin, editor = signed_in("admin"), signed_in()

    pages = [admin.get(LIST), admin.get(f"{LIST}keyed/change/"), editor.get(f"{LIST}keyed/change/")]

    listed, one, for_editor = (page.content.decode() for page in pages)
    assert [page.status_code for page in pages] == [200] * 3
    assert "OpenAI gpt-of-the-file" in listed
    assert "The words of the prompt." in one
    assert "Set in the agent’s file" in one
    assert "hooks.example.com" in one
    assert "result.status not equals &quot;succeeded&quot;" in one
    assert "The words of the prompt." not in for_editor
    assert "switch-form" in one
    assert "switch-form" not in for_editor
    for text in (listed, one, for_editor):
        assert not [secret for secret in SECRETS if secret in text]
        assert str(keyed.parent) not in text


def test_the_page_says_what_an_agent_may_propose(signed_in: Any) -> None:
    page = signed_in().get(f"{LIST}illustrator/change/").content.decode()

    assert '<span title="post.featuredMediaId">Featured image</span>' in page
    assert '<span title="post.customFields.*">All custom fields</span>' in page
    assert '<span title="module.*">All fields of modules</span>' in page
    assert '<span title="media">Fields of the type Media</span>' in page


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("post.metaTitle", "Meta title"),
        ("modules.*", "All modules"),
        ("module.hero.*", "Hero"),
        ("module.hero.title", "Hero › Title"),
        ("module.faq.items.0.question", "Questions and answers › Questions › 1 › Question"),
        ("module.gone.title", "gone › title"),
        ("post.gone", "gone"),
    ],
)
def test_fields_have_labels(path: str, label: str) -> None:
    assert path_label(path) == label


def test_every_field_type_has_a_label() -> None:
    assert [name for name in get_args(FieldType) if field_type_label(name) == name] == []
    assert field_type_label("gone") == "gone"


def test_a_reaction_shows_the_title_of_its_tool(signed_in: Any, agents_dir: Path) -> None:
    text = KEYED.replace(
        "reactions:\n",
        "reactions:\n  - {type: mcp_tool, trigger: on_success, config: {toolName: list_agents}}\n",
    )
    (agents_dir / "keyed.md").write_text(text.replace("user:pass@", ""))
    definitions.reload()

    page = signed_in().get(f"{LIST}keyed/change/").content.decode()

    assert '<td class="path" title="list_agents">' in page
    assert ">list_agents<" not in page
    assert "if the run succeeds" in page


def test_broken_files_are_named_on_the_page(signed_in: Any, agents_dir: Path) -> None:
    (agents_dir / "broken.md").write_text("---\nname: <script>\n---\n")
    definitions.reload()

    page = signed_in().get(LIST).content.decode()

    assert "<code>CMS_AGENTS_DIR/broken.md</code>, llmConfig" in page
    assert str(agents_dir) not in page


def test_the_switch_on_the_page_is_a_form(signed_in: Any) -> None:
    admin = signed_in("admin")

    off = admin.post(f"{LIST}proofreader/switch/", {"enabled": "0", "to": "list"})
    nonsense = admin.post(f"{LIST}proofreader/switch/", {"enabled": "maybe"})
    refused = signed_in("editor").post(f"{LIST}proofreader/switch/", {"enabled": "1"})
    by_link = admin.get(f"{LIST}proofreader/switch/?enabled=1")

    assert (off.status_code, off["Location"]) == (302, LIST)
    assert [nonsense.status_code, refused.status_code, by_link.status_code] == [404, 403, 405]
    assert AgentSwitch.objects.get().is_enabled is False


def test_the_list_costs_the_same_however_many_agents_there_are(
    signed_in: Any, agents_dir: Path
) -> None:
    client, post = signed_in("admin"), make.post()
    client.get(LIST)
    for agent_id in ("seo-specialist", "proofreader"):
        create_run(agent_id=agent_id, scope="dropdown", actor=make.actor("admin"), post_id=post.pk)
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for number in range(5):
        write_agent(agents_dir, f"more-{number}", "dropdown")
    definitions.reload()
    with CaptureQueriesContext(connection) as many:
        page = client.get(LIST).content.decode()

    # Ten for agents, one for the navigation, the rest for the session.
    assert len(few) == len(many) <= 14
    assert page.count("card agent-card") == len(definitions.all_agents())
    assert page.count("badge-queued") == 2


def test_an_agent_whose_file_is_gone_leaves_its_runs_and_can_do_nothing_more(
    signed_in: Any, agents_dir: Path, run_on_commit: RunOnCommit
) -> None:
    path, post = write_agent(agents_dir, "short-lived", "dropdown"), make.post()
    definitions.reload()
    with run_on_commit():
        done = create_run(
            agent_id="short-lived", scope="dropdown", actor=make.actor("admin"), post_id=post.pk
        )
    waiting = create_run(
        agent_id="short-lived", scope="dropdown", actor=make.actor("admin"), post_id=post.pk
    )
    path.unlink()
    definitions.reload()

    execution.execute_run(waiting.pk)

    waiting.refresh_from_db()
    done.refresh_from_db()
    assert (done.status, waiting.status) == ("succeeded", "failed")
    assert "short-lived" in waiting.error
    admin = signed_in("admin")
    assert "short-lived" in admin.get("/admin/agents_app/agentrun/").content.decode()
    assert admin.get(f"/admin/agents_app/agentrun/{done.pk}/change/").status_code == 200
    assert (
        admin.post(
            f"/api/posts/{post.pk}/agents/short-lived/run", {}, content_type="application/json"
        ).status_code
        == 404
    )
    assert AgentRun.objects.count() == 2
