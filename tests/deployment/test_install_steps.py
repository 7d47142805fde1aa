"""The steps from a checkout to a site of one's own, word for word."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.deployment.fresh import Terminal, copy_checkout, machine_variables
from tests.deployment.written import ROOT
from tests.ports import free_port

# A command that needs the product in a package index. With an extra it is installed already.
_FROM_INDEX: Final = re.compile(r"(uvx|pipx? (run|install)|uv tool (run|install)) proofroom\b")


def commands(page: str, heading: str, end: str) -> list[str]:
    """Return the lines of all shell examples between two texts of a page, without their comments."""
    text = (ROOT / page).read_text()
    section = text[text.index(heading) :]
    section = section[: section.index(end)]
    lines = "".join(re.findall(r"(?ms)^```console\n(.*?)^```$", section)).splitlines()
    return [line.removeprefix("$ ").partition(" #")[0].rstrip() for line in lines if line]


README: Final = commands("README.md", "## A site of your own", "## Read on")


def test_all_pages_have_the_same_steps() -> None:
    assert commands("docs/projects.md", "# A project of your own", "`proofroom new NAME") == README
    begin = commands("docs/tutorial/1-install.md", "## Make the project", "## Start it")
    assert [*begin, "./run test", "./run"] == README
    assert README[-2:] == ["./run test", "./run"]


def test_no_page_needs_a_published_package() -> None:
    listed = ["git", "-C", str(ROOT), "ls-files", "*.md", "*.html", "*.yaml", "*.yml", "*.txt"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    found = {
        name
        for name in names
        if name != "CHANGELOG.md" and _FROM_INDEX.search((ROOT / name).read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.deployment
@pytest.mark.skipif(
    importlib.util.find_spec("ensurepip") is None, reason="this Python makes no venv"
)
def test_the_steps_lead_to_a_site(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    copy_checkout(checkout)
    port = free_port()
    variables = machine_variables(tmp_path, port, free_port())

    terminal = Terminal(tmp_path / "log")
    try:
        said = terminal.start("\n".join(README), checkout, variables)
        assert re.search(r"\d+ passed", said)
        assert httpx.get(f"http://127.0.0.1:{port}/").status_code == 200
    finally:
        terminal.stop()
    assert list((tmp_path / "shop/wheels").glob("proofroom-*.whl"))
