"""The official conformance suite against a running server: everything a revision requires, except the
entries of `clients/not-ours.yaml`, with reasons.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.mcp import npm
from tests.mcp.running import Running

pytestmark = pytest.mark.clients
SUITE: Final = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
NEEDED: Final = {
    "2025-11-25": {
        "server-initialize", "server-session-lifecycle", "ping", "completion-complete", "tools-list",
        "tools-call-simple-text", "tools-call-error", "tools-call-with-progress", "resources-list",
        "resources-read-text", "resources-templates-read", "prompts-list", "prompts-get-simple",
        "prompts-get-with-args", "dns-rebinding-protection", "server-sse-multiple-streams",
    },
    "2026-07-28": {
        "completion-complete", "tools-list", "tools-call-simple-text", "tools-call-error",
        "tools-call-with-progress", "resources-list", "resources-read-text",
        "resources-templates-read", "sep-2164-resource-not-found", "prompts-list",
        "prompts-get-simple", "prompts-get-with-args", "dns-rebinding-protection", "caching",
        "server-sse-multiple-streams", "http-header-validation",
        "http-custom-header-server-validation", "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    },
}  # fmt: skip
"""Scenarios for any server, or for tools, prompts and resources like ours; all must pass."""


@pytest.mark.parametrize("revision", NEEDED)
def test_what_a_revision_requires_of_any_server_is_there(
    open_server: Running, tmp_path: Path, revision: str
) -> None:
    done = npm.node(
        SUITE, "server", "--url", f"{open_server.url}/mcp", "--requirements", revision,
        "--expected-failures", str(npm.FOLDER / "not-ours.yaml"), "-o", str(tmp_path),
    )  # fmt: skip

    summary = done.stdout.partition("=== SUMMARY ===")[2]
    assert done.returncode == 0, summary
    passed = set(re.findall(r"^✓ ([\w-]+): [1-9]\d* passed, 0 failed", summary, re.MULTILINE))
    assert NEEDED[revision] - passed == set()
