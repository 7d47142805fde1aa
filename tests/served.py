"""The site as served by the demo: real processes on a separate database file, with WebSockets."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.commands import run_command
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 180.0


def environ(folder: Path) -> dict[str, str]:
    """Return an environment without the machine's services, with all data in `folder`."""
    return {
        **os.environ,
        "CMS_DATA_DIR": str(folder),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "THROTTLE_LOGIN": "off",
        "DJANGO_SETTINGS_MODULE": "cms_project.settings",
    }


def prepare(folder: Path, script: str) -> str:
    """Run a script on the folder's database in a separate process. Return its last line of output."""
    begin = "import django; django.setup()\n"
    done = run_command([sys.executable, "-c", begin + script], env=environ(folder), timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().rpartition("\n")[2]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the URL of the running site. Fails at the end if its log contains an error."""
    port = free_port()
    log = folder / f"server-{port}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "cms_project.asgi:application", "--lifespan=off",
             f"--port={port}", "--log-level=warning", "--timeout-graceful-shutdown=1"],
            cwd=ROOT, env=environ(folder), stdout=written, stderr=written,
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_until_healthy(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(15)
    assert "Traceback" not in log.read_text(), log.read_text()


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/health").json() == {"status": "ok"}:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")
