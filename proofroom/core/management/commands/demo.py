"""Everything in one terminal, with sample content: site, worker, scheduler and MCP server."""

from __future__ import annotations

import ipaddress
import socket
import sys
import time
from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.management import BaseCommand, CommandError, call_command, get_commands
from django.db import DEFAULT_DB_ALIAS

from proofroom.core.database.migrate import earlier_version_message
from proofroom.core.process_runner import Children, Program, python, stopped_by_signals

ACCOUNTS = ("admin@example.com", "editor@example.com", "translator@example.com")
PASSWORD = "demo-password"  # noqa: S105  # known to everyone on purpose, on this machine only


def require_loopback(host: str) -> None:
    """Raise `CommandError` unless the address is of this machine only."""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        raise CommandError(
            f"The demo has accounts with a known password, so it binds 127.0.0.1 only, not {host}. "
            "docs/deployment.md says how to run it for others."
        )


def require_free(port: int, variable: str) -> None:
    """Raise `CommandError` where something listens already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise CommandError(
                f"Port {port} is taken. Stop what uses it, or set {variable} to another."
            ) from None


def answers(url: str) -> bool:
    """Return whether something answers there."""
    try:
        with urlopen(url, timeout=1) as response:  # noqa: S310  # an address of this machine
            return bool(response.status == 200)
    except OSError:
        return False


def worker(queues: str, *options: str) -> list[str]:
    """A worker that takes from these queues."""
    command = ["-W", "ignore:You're running the worker", "-m", "celery", "--quiet"]
    command += ["-A", "cms_project", "worker", "--queues", queues, "--pool", "threads"]
    command += ["--concurrency", "4", "--loglevel", "WARNING", "--without-gossip"]
    return python(*command, "--without-mingle", *options)


class Command(BaseCommand):
    help = (
        "Run the site, the worker, the scheduler and the MCP server together, with sample content."
    )
    stdout_is_ready = False
    # A broken definition must not keep the site from starting: `prepare` says what is wrong.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="An address of this machine only.")

    def handle(self, *args: Any, host: str, **options: Any) -> None:
        self.host, self.env = host, settings.CMS_ENV
        require_loopback(host)
        if self.env.site_url:
            require_loopback(urlsplit(self.env.site_url).hostname or "")
        require_free(self.env.port, "PORT")
        require_free(self.env.mcp_port, "MCP_PORT")
        self.prepare()
        children = Children(self.programs(), environ=self.environ(), out=sys.stdout)
        self.started = time.monotonic()
        with stopped_by_signals(children):
            children.start()
            try:
                ended = children.wait(self.announce)
            finally:
                children.stop()
        if ended:
            raise CommandError(f"{ended.name} ended by itself; its last lines above say why.")
        self.stdout.write("Stopped.")

    def prepare(self) -> None:
        """Make the tables, and the sample content in a database where nobody has an account."""
        for problem in run_checks():
            if problem.is_serious():
                self.stderr.write(f"{problem}\n")
        if message := earlier_version_message(DEFAULT_DB_ALIAS):
            raise CommandError(message)
        self.stdout.write("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        # Accounts of agents are made by `migrate`; people's are what counts.
        people = get_user_model()._default_manager.exclude(role="ai_agent")
        if not people.exists() and "seed" in get_commands():
            call_command("seed", stdout=self.stdout)

    def environ(self) -> dict[str, str]:
        return {}

    def programs(self) -> list[Program]:
        """Return what runs."""
        host = self.host
        web = ["-m", "uvicorn", "cms_project.asgi:application", "--host", host]
        web += ["--port", str(self.env.port), "--lifespan", "off", "--log-level", "warning"]
        # No proxy stands in front: who says so in a header would be whoever they like, and on HTTPS.
        web += ["--no-proxy-headers", "--timeout-graceful-shutdown", "3"]
        beat = ["-B", "--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME]
        mcp = ["manage.py", "run_mcp", "--host", host, "--port", str(self.env.mcp_port)]
        return [
            Program("web", python(*web)),
            Program("worker", worker("celery,deliveries", *beat)),
            # Agents wait for models, and keep nothing else waiting.
            Program("agents", worker("agents", "--hostname", "agents@%h")),
            Program("mcp", python(*mcp)),
        ]

    def announce(self) -> None:
        """Say once where everything is, as soon as it answers."""
        if self.stdout_is_ready:
            return
        site, mcp = (f"http://{self.host}:{port}" for port in (self.env.port, self.env.mcp_port))
        if not (answers(f"{site}/health") and answers(f"{mcp}/health")):
            return
        self.stdout_is_ready = True
        seconds = time.monotonic() - self.started
        accounts = "\n".join(f"            {email}" for email in ACCOUNTS)
        self.stdout.write(
            f"\n  Ready in {seconds:.0f} s. Ctrl-C stops everything.\n\n"
            f"  Site      {site}/\n  Admin     {site}/admin/\n  MCP       {mcp}/mcp\n\n"
            f"  Accounts, all with the password {PASSWORD}\n{accounts}\n"
        )
        self.stdout.flush()
