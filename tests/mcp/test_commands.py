"""The commands: refused configurations, and the dump."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from mcp_bridge.management.commands.run_mcp import require_credentials


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "cms.example"])  # noqa: S104
def test_another_address_is_refused_without_credentials(
    environment: Callable[..., None], host: str
) -> None:
    with pytest.raises(CommandError, match="without credentials"):
        call_command("run_mcp", host=host)

    environment(mcp_auth_token="secret")
    require_credentials(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_needs_no_credentials(environment: Callable[..., None], host: str) -> None:
    require_credentials(host)


def test_half_a_header_pair_is_refused(environment: Callable[..., None]) -> None:
    environment(mcp_auth_header_name="X-Key")

    with pytest.raises(CommandError, match="belong together"):
        require_credentials("127.0.0.1")


def test_the_dump_holds_the_code_derived_context_in_a_stable_order(
    samples: None, tmp_path: Path, capsys: Any
) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    call_command("dump_mcp_context", out=str(first))
    call_command("dump_mcp_context", out=str(second))

    assert first.read_bytes() == second.read_bytes()
    context = json.loads(first.read_text())
    assert set(context) == {
        "schemaVersion", "postTypes", "moduleGroups", "modules", "taxonomies", "tools",
    }  # fmt: skip
    tools = {tool["name"]: tool for tool in context["tools"]}
    assert list(tools) == sorted(tools)
    assert tools["sample_echo"]["inputSchema"]["required"] == ["postId"]


def test_a_dump_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Cannot write"):
        call_command("dump_mcp_context", out=str(tmp_path / "absent" / "a.json"))


@pytest.mark.django_db
def test_a_served_name_needs_credentials_too(environment: Callable[..., None]) -> None:
    environment(mcp_allowed_hosts=("localhost", "[::1]", "mcp.example.com"))
    with pytest.raises(
        CommandError, match=r"mcp\.example\.com \(MCP_ALLOWED_HOSTS\) without credentials"
    ):
        require_credentials("127.0.0.1")

    environment(mcp_auth_token="secret")
    require_credentials("127.0.0.1")
    environment(mcp_auth_token=None, mcp_allowed_hosts=("localhost", "[::1]", "127.0.0.3"))
    require_credentials("127.0.0.1")
