"""A copy of the checkout, and the variables of a machine that has Python and few other programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.deployment.conftest import registry_variables
from tests.deployment.written import ROOT

_READY_WITHIN: Final = 1200.0


def copy_checkout(folder: Path) -> None:
    """Copy the files of the checkout that git would commit."""
    listed = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def machine_variables(home: Path, port: int, mcp_port: int, *programs: str) -> dict[str, str]:
    """Return the variables of a user with this home folder, these ports, Python, and the other programs."""
    folder = home / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    for program in programs:
        (folder / Path(program).name).symlink_to(program)
    return {
        **registry_variables(),
        "PATH": f"{folder}:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PORT": str(port),
        "MCP_PORT": str(mcp_port),
    }


@dataclass
class Terminal:
    """Runs commands that end with a site that serves until Ctrl-C."""

    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self, commands: str, folder: Path, variables: dict[str, str]) -> str:
        """Run the commands until the site is ready. Return what they printed."""
        with self.log.open("wb") as written:
            self.process = subprocess.Popen(
                ["/bin/sh", "-euc", commands],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        until = time.monotonic() + _READY_WITHIN
        while "Ready" not in (said := self.log.read_text()):
            assert self.process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.5)
        return said

    def stop(self) -> None:
        """Press Ctrl-C, and wait until every process has ended."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(60)
            self.process = None
