"""The product with real processes: separate broker, web server and worker, each of which can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.commands import run_command
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


_PREPARE = """
import json
from django.core.management import call_command
call_command("migrate", verbosity=0)
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.services.tokens import create_token
from tests import make
person = make.user("admin")
_, secret = create_token(
    name="A program", permissions=permissions_of("admin"), actor=make.actor("admin"), user_id=person.pk,
    expires_at=None,
)
post = make.post(TITLE, slug="a-post", status="published")
print(json.dumps({"token": secret, "post": str(post.pk)}))
"""


def prepare(title: str) -> str:
    """A script for `Site.ask`: creates tables, a published post at `/blog/a-post`, and a token with
    all permissions.
    """
    return f"TITLE = {title!r}\n{_PREPARE}"


@contextmanager
def own_database(purpose: str = "faults", template: str = "template1") -> Iterator[str]:
    """Yield the URL of an empty database, or of a copy of `template`, on the tests' PostgreSQL.

    It is dropped at the end.
    """
    server = os.environ["DATABASE_URL"]
    name = f"cms_{purpose}_{os.getpid()}"
    base = urlunsplit(urlsplit(server)._replace(path="/postgres"))
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(base, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


class Site:
    """Processes by name: `redis`, `web`, `sockets`, `mcp`, `worker` (with the scheduler in it)."""

    def __init__(self, folder: Path, database: str, root: Path = ROOT, **environ: str) -> None:
        """`root`: the checkout whose code runs."""
        self.folder = folder
        self.root = root
        self.database = database
        self.port, self.mcp_port = free_port(), free_port()
        redis_port, self.sockets_port = free_port(), free_port()
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(root),
            "CMS_DATA_DIR": str(folder),
            "DATABASE_URL": database,
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
            "THROTTLE_ALLOW_IPS": "127.0.0.1",
            **environ,
        }
        python = sys.executable
        beside = str(Path(python).parent)
        self.commands: dict[str, list[str]] = {
            "redis": [
                "redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "",
                "--dir", str(folder),
            ],
            "web": [
                f"{beside}/granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port",
                str(self.port), "--workers", "1", "--blocking-threads", "2", "--log-level", "warning",
                "cms_project.wsgi:application",
            ],
            "sockets": [
                python, "-m", "uvicorn", "cms_project.asgi:application", "--lifespan", "off",
                "--port", str(self.sockets_port), "--log-level", "warning",
            ],
            "mcp": [python, "manage.py", "run_mcp", "--port", str(self.mcp_port)],
            "worker": [
                python, "-W", "ignore", "-m", "celery", "--quiet", "-A", "cms_project", "worker",
                "-B", "--pool", "threads", "--concurrency", "4", "--loglevel", "INFO",
                "--schedule", str(folder / "beat-schedule"),
            ],
        }  # fmt: skip
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def ask(self, script: str) -> Any:
        """Return the last line of a script's output in the site's shell, as JSON."""
        done = run_command(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", script],
            cwd=self.root,
            env=self.environ,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    def start(self, name: str) -> None:
        log = (self.folder / f"{name}.log").open("ab")
        self.running[name] = subprocess.Popen(
            self.commands[name],
            cwd=self.root,
            env=self.environ,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def revive(self, name: str) -> None:
        """Restart a process that ended by itself, like a supervisor."""
        if name in self.running and self.running[name].poll() is not None:
            self.running.pop(name)
            self.start(name)

    def kill(self, name: str, by: signal.Signals = signal.SIGKILL) -> None:
        """Kill the process with all its children, like a power loss, or end it with SIGTERM."""
        process = self.running.pop(name)
        assert process.poll() is None, f"{name} ended by itself:\n{self.log(name)}"
        os.killpg(process.pid, by)
        process.wait(20)

    def wait_for_web(self, seconds: float = 90) -> None:
        self._wait_for("web", self.port, seconds)

    def wait_for_sockets(self, seconds: float = 90) -> None:
        self._wait_for("sockets", self.sockets_port, seconds)

    def wait_for_mcp(self, seconds: float = 90) -> None:
        self._wait_for("mcp", self.mcp_port, seconds)

    def _wait_for(self, name: str, port: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            with suppress(OSError):
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            connection.close()
            assert time.monotonic() < until, self.log(name)
            time.sleep(0.1)

    def stop(self) -> None:
        for name in list(self.running):
            with suppress(ProcessLookupError):
                os.killpg(self.running[name].pid, signal.SIGKILL)
            self.running.pop(name).wait(10)

    def log(self, name: str) -> str:
        """Return the end of a process's log, for error messages."""
        return self.whole_log(name)[-6000:]

    def whole_log(self, name: str) -> str:
        """Return the complete log of a process, because an outage logs much after the searched line."""
        return (self.folder / f"{name}.log").read_text(errors="replace")
