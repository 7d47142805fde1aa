"""An environment with only the packages of one lock file, like a machine that only runs the site."""

from __future__ import annotations

import importlib.util
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.deployment.written import ROOT

# Settings to reach the package registry, which pip may need.
_PASSED_ON = ("PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def make(folder: Path) -> None:
    """Create an empty environment with pip."""
    if importlib.util.find_spec("ensurepip") is not None:
        command = [sys.executable, "-m", "venv", str(folder)]
    else:
        uv = shutil.which("uv") or str(ROOT / ".uv/bin/uv")
        command = [uv, "venv", "--quiet", "--seed", "--python", sys.executable, str(folder)]
    subprocess.run(command, check=True, timeout=300)


class CleanEnvironment:
    """Runs shell commands with the environment's programs and only the given variables."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        make(folder)
        passed_on = {
            name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED_ON)
        }
        self.variables = {
            **passed_on,
            "PATH": f"{folder}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": os.environ.get("HOME", "/"),
            "LANG": "C.UTF-8",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **variables,
        }

    def run(self, command: str) -> str:
        """Return the output of a command, which must succeed."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=ROOT,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def answer(self, command: str, answers: Mapping[str, str]) -> str:
        """Return the output of an interactive command. Answers are matched by the start of the question."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execve("/bin/sh", ["/bin/sh", "-c", command], self.variables)  # noqa: S606
        said = line = ""
        with suppress(OSError):  # the end of a terminal
            while read := os.read(terminal, 4096):
                said += read.decode()
                line = said.rpartition("\n")[2]
                if line.rstrip().endswith(":"):
                    given = next(value for name, value in answers.items() if line.startswith(name))
                    os.write(terminal, f"{given}\n".encode())
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said
        return said

    def start(
        self, command: str, log: Path, variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a process in its own process group."""
        with log.open("wb") as written:
            return subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                cwd=ROOT,
                env={**self.variables, **variables},
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
