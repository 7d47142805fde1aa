"""Threats 41 and 56: secrets in the environment, database and log appear in no tool's answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from mcp_bridge.access.tokens import create_token as create_mcp_token
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.services.tokens import create_token
from proofroom.core.diagnostics import command_runner, local_route
from proofroom.core.observability import metrics
from proofroom.core.redaction import secrets_of_service
from tests import make
from tests.diagnostics.asking import granted

pytestmark = pytest.mark.django_db
LINE = "2026-11-22 10:00:00,000 ERROR shop.orders "


@pytest.fixture
def secrets(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return every kind of secret, after writing each to the log, a URL and a command's output."""
    fields = type(settings.CMS_ENV).model_fields
    kept = {name for name in fields if fields[name].json_schema_extra} - {
        "database_url",
        "redis_url",
    }
    # The check is cached per process and would affect all later tests.
    monkeypatch.setattr(metrics, "_prometheus_histograms", dict)
    values = {name: f"canary-{name}-value" for name in sorted(kept - {"workflow_secrets"})}
    values["chat_webhook_url"] = "https://chat.example/canary-chat-path"
    settings.CMS_ENV = settings.CMS_ENV.model_copy(
        update={
            **values,
            "workflow_secrets": {"crm": "canary-of-a-workflow"},
            "database_url": "postgresql://cms:canary-database@db/cms",
            "redis_url": "redis://:canary-of-redis@cache/0",
            "mcp_commands": ("check", "doctor"),
        }
    )
    make.webhook(
        "Hook", secret="canary-of-a-webhook", headers={"X-Key": "canary-of-a-header"}, test=True
    )
    admin = make.actor("admin")
    _, api_token = create_token(name="p", permissions=["posts.view"], actor=admin)
    _, mcp_token = create_mcp_token(name="c", user_id=make.user("editor").pk, actor=admin)
    found = [
        *secrets_of_service(), "canary-database", "canary-of-redis", "canary-of-a-webhook",
        "canary-of-a-header", api_token, mcp_token, "ann@example.com", "203.0.113.9",
    ]  # fmt: skip
    log = tmp_path / "cms.log"
    log.write_text("".join(f"{LINE}about {secret}\n  {secret!r}\n" for secret in found))
    settings.LOGGING = {"handlers": {"file": {"filename": log}}}
    source = f"print(open({str(log)!r}).read())"
    monkeypatch.setattr(command_runner, "program", lambda: (sys.executable, "-c", source))
    return found


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_server_logs", {"lines": 500}),
        ("run_ace_command", {"command": "check"}),
        ("run_ace_command", {"command": "doctor"}),
        ("simulate_webhook_event", {"event": "post.published"}),
        ("simulate_webhook_event", {"event": "canary"}),
        ("tail_activity_logs", {"limit": 100, "format": "full"}),
        ("test_local_route", {"path": "/"}),
        ("trace_url_resolution", {"path": "/"}),
        ("validate_mcp_payload", {"type": "hero", "props": {"title": 7}}),
    ],
    ids=str,
)
def test_no_answer_holds_a_secret(secrets: list[str], tool: str, arguments: dict[str, Any]) -> None:
    for role in ("ai_agent", "admin"):
        text = str(call_tool(granted(role), tool, arguments))

        assert [secret for secret in secrets if secret in text] == []


def test_the_log_and_a_command_do_tell_the_rest(secrets: list[str]) -> None:
    for tool, arguments in (("read_server_logs", {}), ("run_ace_command", {"command": "check"})):
        text = call_tool(granted(), tool, arguments).content[0].text

        assert text.count("about ") == len(secrets), tool


@pytest.mark.parametrize("status", [200, 500])
def test_a_page_that_shows_secrets_is_answered_without_them(
    secrets: list[str], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    own = [secret for secret in secrets if "canary" in secret]
    handler = BaseHandler()
    handler.load_middleware()

    def view(request: Any) -> HttpResponse:
        response = HttpResponse(" ".join(own), content_type="text/plain", status=status)
        response["X-Debug"] = own[0]
        return response

    monkeypatch.setattr(handler, "resolve_request", lambda request: (view, (), {}))
    monkeypatch.setattr(local_route, "_handler", lambda: handler)

    result = call_tool(granted(), "test_local_route", {"path": "/"})

    assert result.structured_content["status"] == status
    assert "canary" not in str(result)
