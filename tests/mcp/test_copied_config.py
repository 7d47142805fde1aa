"""The displayed stdio configuration, copied unchanged, opens this site from any folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.commands import run_command
from tests.mcp.running import ROOT, environment
from tests.migrated import give_database


def test_a_client_that_copies_it_finds_the_site_from_another_folder(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # A site whose data folder is in a variable that its `.env` does not set.
    data = tmp_path_factory.mktemp("site with a blank")
    give_database(data)
    variables = environment(data)
    variables.pop("SECRET_KEY", None)
    printed = run_command(
        [
            sys.executable,
            "manage.py",
            "run_mcp",
            "--print-config",
            "claude",
            "--transport",
            "stdio",
        ],
        env=variables,
        check=True,
        timeout=100,
    )
    entry = json.loads(printed.stdout)["mcpServers"]["proofroom"]
    assert entry["env"] == {"CMS_DATA_DIR": str(data)}

    async def titles() -> list[str]:
        # The SDK's client passes only a few variables of the machine and the given ones.
        server = StdioServerParameters(
            command=entry["command"], args=entry["args"], env=entry["env"], cwd="/"
        )
        async with Client(stdio_client(server)) as client:
            found = await client.call_tool("list_post_types", {})
            return [one["slug"] for one in found.structured_content["items"]]

    assert "page" in anyio.run(titles)


def test_an_empty_database_is_no_site(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "run_mcp", "--transport", "stdio"],
        cwd="/",
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert "is empty. Copy the configuration again" in done.stderr
