"""Calls of tools, in memory: answers, and the log."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from mcp_bridge.access.principals import Principal
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.models import User
from proofroom.core.tools import registry
from tests.content.customer_app import customer_app
from tests.mcp.sample_tools import CANARY

Request = Callable[..., Any]
POST = {"postId": "p1"}


def text(result: Any) -> str:
    return str(result.content[0].text)


def test_a_result_is_structured_and_the_same_json_in_the_text(client: Request) -> None:
    result = client("call_tool", "sample_echo", {**POST, "limit": 3})

    assert result.is_error is False
    assert result.structured_content["arguments"]["limit"] == 3
    assert result.structured_content["user"] == "agent@example.com"
    assert result.structured_content["via"] == "mcp"
    assert json.loads(text(result)) == result.structured_content
    assert '"text":"Grüße"' in text(result)
    assert '": ' not in text(result)


def test_an_unknown_argument_is_refused_with_the_nearest_name(client: Request) -> None:
    result = client("call_tool", "sample_echo", {**POST, "limt": 5})

    assert result.is_error is True
    assert result.structured_content is None
    assert text(result) == (
        "Invalid arguments for sample_echo:\n"
        "- unknown argument `limt`; did you mean `limit`?\n"
        "Signature: sample_echo(postId, limit?, format?, patch?, edits?, agentId?)"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "- `postId` is required\n"),
        ({"post_id": "p1"}, None),
        ({**POST, "limit": 0}, "- `limit`: input should be greater than or equal to 1; got 0\n"),
        ({**POST, "format": "long"}, "- `format`: input should be 'concise' or 'full'; got 'long'"),
        (
            {**POST, "edits": [{"propz": {}}]},
            "- unknown argument `edits.0.propz`; did you mean `props`?",
        ),
        ({**POST, "patch": "no json"}, "- `patch`: input should be a valid dictionary; got"),
    ],
)
def test_invalid_arguments_say_where_and_what(
    client: Request, arguments: dict[str, Any], sentence: str | None
) -> None:
    result = client("call_tool", "sample_echo", arguments)

    if sentence is None:  # the Python name is taken too, as the registry allows it
        assert result.is_error is False
    else:
        assert result.is_error is True
        assert sentence in text(result)
        assert "pydantic" not in text(result)


def test_a_json_string_is_opened_where_an_object_is_expected(client: Request) -> None:
    result = client(
        "call_tool",
        "sample_echo",
        {"postId": '{"a": 1}', "patch": '{"title": "New"}', "edits": '[{"position": 2}]'},
    )

    arguments = result.structured_content["arguments"]
    assert arguments["patch"] == {"title": "New"}
    assert arguments["edits"] == [{"position": 2, "props": {}}]
    assert arguments["postId"] == '{"a": 1}'


def test_a_refusal_carries_its_details_and_the_version_in_the_text(client: Request) -> None:
    result = client("call_tool", "sample_conflict", {})

    assert result.is_error is True
    assert result.structured_content is None
    assert text(result) == (
        "The draft changed.\n- title: is new\nThe version that stands now is 7."
    )
    assert result.meta["cms/error"]["code"] == "stale_version"


def test_an_unexpected_error_is_hidden_and_logged(
    client: Request, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="mcp_bridge"):
        result = client("call_tool", "sample_fail", {})

    assert result.is_error is True
    assert text(result).startswith("Internal error, reference ")
    assert CANARY not in result.model_dump_json()
    reference = text(result).rsplit(" ", 1)[1]
    assert any(reference in record.getMessage() for record in caplog.records)
    assert CANARY in caplog.text


def test_an_unknown_tool_is_a_protocol_error_that_names_the_nearest(client: Request) -> None:
    with pytest.raises(MCPError) as caught:
        client("call_tool", "sample_ecko", {})

    assert caught.value.code == -32602
    assert caught.value.message == "Unknown tool: sample_ecko (did you mean sample_echo?)"
    assert McpCall.objects.get().error_code == "unknown_tool"


def test_only_the_permitted_tools_are_listed_in_a_stable_order(client: Request) -> None:
    names = [tool.name for tool in client("list_tools").tools]

    assert names == sorted(names)
    assert {"sample_echo", "sample_fail", "sample_conflict"} <= set(names)
    assert not {"sample_people", "sample_diagnose"} & set(names)


def test_a_tool_that_is_not_listed_cannot_be_called(client: Request) -> None:
    result = client("call_tool", "sample_people", {})

    assert result.is_error is True
    assert "users.manage" in text(result)
    assert result.meta["cms/error"]["code"] == "not_allowed"


def test_diagnostics_need_their_grant(client: Request, environment: Callable[..., None]) -> None:
    refused = client("call_tool", "sample_diagnose", {})
    environment(mcp_diagnostics=True)
    granted = client("call_tool", "sample_diagnose", {})

    assert "MCP_DIAGNOSTICS" in text(refused)
    assert granted.structured_content == {"seen": True}


def test_the_list_of_a_credential_is_enforced_at_the_call(client: Request) -> None:
    narrow = Principal(id="client:1", tools=frozenset({"sample_fail"}))

    result = call_tool(narrow, "sample_echo", POST)

    assert result.is_error is True
    assert text(result) == "sample_echo is not on the list of tools of this credential."


def test_an_editors_credential_may_stage(client: Request) -> None:
    editor = User.objects.create(email="editor@example.com", username="editor", role="editor")

    result = call_tool(Principal(id="client:2", user_id=editor.pk), "sample_conflict", {})

    assert result.meta is not None
    assert result.meta["cms/error"]["code"] == "stale_version"


def test_threat_43_a_disabled_or_deleted_user_fails_at_the_next_call(
    client: Request, agent: User
) -> None:
    assert client("call_tool", "sample_echo", POST).is_error is False

    User.objects.filter(pk=agent.pk).update(is_active=False)
    disabled = client("call_tool", "sample_echo", POST)
    with pytest.raises(MCPError, match="No active account"):
        client("list_tools")
    User.objects.all().delete()
    deleted = client("call_tool", "sample_echo", POST)

    assert disabled.is_error is deleted.is_error is True
    assert text(disabled).startswith("No active account stands behind this credential")


def test_threat_42_no_admin_replaces_a_missing_agent_account(client: Request, agent: User) -> None:
    User.objects.all().delete()
    User.objects.create(email="admin@example.com", username="admin", role="admin")

    result = client("call_tool", "sample_echo", POST)

    assert result.is_error is True
    assert text(result).startswith("No active account stands behind this credential")


def test_threat_43_a_disabled_user_of_a_bound_credential_fails_too(client: Request) -> None:
    editor = User.objects.create(email="editor@example.com", username="editor", role="editor")
    bound = Principal(id="client:2", user_id=editor.pk)
    assert call_tool(bound, "sample_echo", POST).is_error is False

    User.objects.filter(pk=editor.pk).update(is_active=False)

    assert text(call_tool(bound, "sample_echo", POST)).startswith("No active account")


def test_only_the_configured_system_user_acts(
    client: Request, environment: Callable[..., None]
) -> None:
    writer = User.objects.create(email="writer@example.com", username="writer", role="ai_agent")
    environment(mcp_system_user_id=writer.pk)

    assert client("call_tool", "sample_echo", POST).structured_content["user"] == writer.email
    User.objects.filter(pk=writer.pk).update(is_active=False)
    assert client("call_tool", "sample_echo", POST).is_error is True


def test_every_call_is_logged_without_its_arguments(client: Request, agent: User) -> None:
    client("call_tool", "sample_echo", {**POST, "agentId": "translator", "patch": {"x": CANARY}})
    client("call_tool", "sample_conflict", {})

    refused, done = McpCall.objects.all()
    assert (done.tool, done.principal, done.user, done.agent_id, done.ok, done.error_code) == (
        "sample_echo", "local", agent, "translator", True, "",
    )  # fmt: skip
    assert done.request_bytes > 60
    assert done.response_bytes > 60
    assert (refused.tool, refused.ok, refused.error_code) == (
        "sample_conflict", False, "stale_version",
    )  # fmt: skip
    assert CANARY not in str(list(McpCall.objects.values()))


def test_calls_beyond_the_rate_are_refused_per_credential(
    client: Request, environment: Callable[..., None]
) -> None:
    environment(throttle_mcp="2/day")

    results = [call_tool(Principal(id="local"), "sample_echo", POST) for _ in range(3)]
    other = call_tool(Principal(id="token"), "sample_echo", POST)

    assert [result.is_error for result in results] == [False, False, True]
    assert "the limit is 2 a day" in text(results[2])
    assert other.is_error is False


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"patch": '{"a": NaN}'}, "- `patch` is not valid JSON: "),
        ({"patch": '{"a": "\\ud800"}'}, "- `patch` is not valid JSON: "),
        ({"edits": "[" * 100_000}, "- `edits` is not valid JSON: "),
        ({"patch": '{"a":' + "[" * 100 + "]" * 100 + "}"}, " is nested deeper than 64 levels."),
        ({"patch": '{"a": ' + "9" * 100 + "}"}, "- `patch.a` must be a number between"),
        ({"patch": {"a": [float("inf")]}}, "- `patch.a.0` must be a number between"),
        ({"patch": {"a": "\x00"}}, "- `patch.a` must not contain the character NUL."),
        ({"patch": {"\x00": 1}}, "- `patch` has a key that must not contain the character NUL."),
        ({"postId": "p\x00"}, "- `postId` must not contain the character NUL."),
        ({"postId": "p\ud800"}, "- `postId` must not contain an incomplete character"),
        ({"limit": 10**400}, "- `limit` must be a number between"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_cannot_be_stored_is_refused_with_its_path_and_logged(
    samples: None, agent: User, arguments: dict[str, Any], sentence: str
) -> None:
    result = call_tool(Principal(id="t"), "sample_echo", {**POST, **arguments})

    assert result.is_error is True
    assert text(result).startswith("Invalid arguments for sample_echo:\n- ")
    assert sentence in text(result)
    assert "Signature: sample_echo(" in text(result)
    assert McpCall.objects.get().error_code == "invalid_arguments"


def test_a_call_of_a_name_that_cannot_be_stored_is_logged(samples: None, agent: User) -> None:
    result = call_tool(Principal(id="t"), "no\x00\ud800", {"a": 10**40})

    assert result.is_error is True
    assert McpCall.objects.get().tool == "no\ufffd?"


TIDES = """
    from proofroom.core.tools import NoArguments, tool


    @tool(title="Tides", kind="read", permission="posts.view", group="harbour")
    def next_tides(actor, arguments: NoArguments):
        \"\"\"When the water is high, and when it is low.\"\"\"
        return {"tides": []}
"""


@pytest.mark.parametrize("path", ["tools.py", "tools/tides.py"])
def test_tools_of_a_customers_app_are_found_by_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    files = {path: TIDES} if path == "tools.py" else {path: TIDES, "tools/__init__.py": ""}
    registry.load_tools()
    monkeypatch.setattr(registry, "_tools", dict(registry._tools))
    monkeypatch.setattr(registry, "load_tools", registry.load_tools.__wrapped__)

    with customer_app(tmp_path, monkeypatch, "harbour_app", files):
        found = registry.get_tool("next_tides")

    assert found is not None
    assert found.description == "When the water is high, and when it is low."
