"""The command line of the MCP Inspector, over every transport and in both eras."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import pytest

from tests.mcp import npm
from tests.mcp.conftest import TOKEN
from tests.mcp.running import ROOT, Running

pytestmark = pytest.mark.clients
_INSPECTOR: Final = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_AT_ONCE: Final = 3
REFUSED: Final = 5
"""Exit code for a tool's error."""
LIST = ("--method", "tools/list", "--strict")
CALL = ("--method", "tools/call", "--tool-name", "list_post_types", "--tool-args-json")
DONE = (*CALL, '{"limit": 1}')
WRONG = (*CALL, '{"limt": 1}')
RESOURCES = ("--method", "resources/list")
RESOURCE = ("--method", "resources/read", "--uri", "cms://guidelines")
PROMPT = ("--method", "prompts/get", "--prompt-name", "write-post",
          "--prompt-args", "type=blog", "brief=Bread")  # fmt: skip


class Inspector:
    """Runs it with one of the servers in its configuration."""

    def __init__(self, home: Path, server: Running) -> None:
        self._home = home
        self._config = home / "mcp.json"
        sent = {"Authorization": f"Bearer {TOKEN['MCP_AUTH_TOKEN']}"}
        url = f"{server.url}/mcp"
        stdio = {
            "type": "stdio",
            "command": sys.executable,
            "args": ["-m", "tests.mcp.serve", "run_mcp", "--transport", "stdio"],
            "cwd": str(ROOT),
            "env": {"CMS_DATA_DIR": str(server.data), "PYTHONPATH": str(ROOT)},
        }
        servers = {
            "http": {"type": "streamable-http", "url": url, "headers": sent},
            "sse": {"type": "sse", "url": url, "headers": sent},
            "stdio": stdio,
        }
        self._config.write_text(json.dumps({"mcpServers": servers}))

    def run(self, server: str, era: str, asked: tuple[str, ...]) -> tuple[int, Any]:
        """Return the exit code, and the parsed result."""
        done: CompletedProcess[str] = npm.node(
            _INSPECTOR, "--cli", "--config", str(self._config), "--server", server,
            "--protocol-era", era, "--format", "json", *asked,
            environment={"HOME": str(self._home)},
        )  # fmt: skip
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)["result"]


@pytest.fixture(scope="module")
def inspector(locked_server: Running, tmp_path_factory: pytest.TempPathFactory) -> Inspector:
    return Inspector(tmp_path_factory.mktemp("inspector"), locked_server)


@pytest.mark.parametrize(
    ("server", "era"), [("http", "modern"), ("http", "legacy"), ("sse", "legacy")]
)
def test_it_lists_calls_reads_and_is_taught(inspector: Inspector, server: str, era: str) -> None:
    asked = (LIST, DONE, WRONG, RESOURCES, RESOURCE, PROMPT)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(lambda what: inspector.run(server, era, what), asked))

    (listed, tools), (done, called), (wrong, refused), *others = answers
    assert (listed, done, wrong) == (0, 0, REFUSED)
    assert "list_posts" in [tool["name"] for tool in tools["tools"]]
    assert len(called["structuredContent"]["items"]) == 1
    assert "did you mean `limit`?" in refused["content"][0]["text"]
    (resources, addresses), (resource, read), (prompt, filled) = others
    assert (resources, resource, prompt) == (0, 0, 0)
    assert "cms://guidelines" in [item["uri"] for item in addresses["resources"]]
    assert read["contents"][0]["text"].startswith("# Proposing content")
    assert "<brief>\nBread\n</brief>" in filled["messages"][0]["content"]["text"]


@pytest.mark.parametrize(
    ("era", "asked", "code"), [("modern", LIST, 0), ("legacy", WRONG, REFUSED)]
)
def test_it_starts_the_server_itself(
    inspector: Inspector, era: str, asked: tuple[str, ...], code: int
) -> None:
    assert inspector.run("stdio", era, asked)[0] == code
