"""There is one module for outgoing calls: no other part of the product can make one."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAYS_OUT = {
    "aiohttp",
    "ftplib",
    "h11",
    "http.client",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "poplib",
    "pycurl",
    "requests",
    "smtplib",
    "socket",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "websockets",
    "xmlrpc",
}
CALLS = {"create_connection", "create_datagram_endpoint", "open_connection", "sock_connect"}
PROVIDERS = "agents_app/providers/"
KNOWN = {
    # MCP servers of this site forward sessions to each other, at addresses they store in the
    # database.
    "mcp_bridge/transport/session_routing.py": {"httpx2", "socket"},
    # Providers are named by the operator, not by people or content.
    PROVIDERS: {"httpx2"},
    # Checks the server that it has just started.
    "proofroom/core/management/commands/demo.py": {"socket", "urllib.request"},
    # A socket pair inside the process, to wake the listening thread.
    "proofroom/core/database_notifications.py": {"socket"},
    # Closes an existing database connection.
    "proofroom/core/database/postgresql/answer_watch.py": {"socket"},
}


def files() -> Iterator[Path]:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    for package in tool["importlinter"]["root_packages"]:
        yield from (ROOT / package).rglob("*.py")


def ways_out_of(source: str) -> set[str]:
    """Return the imports and calls of a module that reach other hosts."""
    found: set[str] = set()
    if not any(word.partition(".")[0] in source for word in WAYS_OUT | CALLS):
        return found
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and node.attr in CALLS:
            found.add(node.attr)
        found |= {way for way in WAYS_OUT for name in names if f"{name}.".startswith(f"{way}.")}
    return found


def test_nothing_but_the_one_way_out_calls_addresses() -> None:
    found: dict[str, set[str]] = {}
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        ways = (
            set()
            if name.startswith("proofroom/core/http_client/")
            else ways_out_of(path.read_text())
        )
        if ways:
            found.setdefault(PROVIDERS if name.startswith(PROVIDERS) else name, set()).update(ways)

    assert found == KNOWN


def test_every_way_of_importing_one_is_seen() -> None:
    assert ways_out_of("import httpx as quiet") == {"httpx"}
    assert ways_out_of("def f():\n    from urllib import request") == {"urllib.request"}
    assert ways_out_of("from urllib.request import urlopen") == {"urllib.request"}
    assert ways_out_of("import asyncio\nasyncio.open_connection('a', 1)") == {"open_connection"}
    assert (
        ways_out_of("from urllib.parse import quote\nfrom cms_project.requests import x") == set()
    )
