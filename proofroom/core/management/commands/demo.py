"""Everything in one terminal, with sample content: site, worker, scheduler and MCP server."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit
from urllib.request import urlopen

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.management import BaseCommand, CommandError, call_command, get_commands
from django.db import DEFAULT_DB_ALIAS

from proofroom.core.database.migrate import earlier_version_message
from proofroom.core.process_runner import Children, Program, fork, how_it_ended, stopped_by_signals
from proofroom.core.task_queue import task_app
from proofroom.core.validation.host_names import is_loopback_host

ACCOUNTS = ("admin@example.com", "editor@example.com", "translator@example.com")
PASSWORD = "demo-password"  # noqa: S105  # known to everyone on purpose, on this machine only
VIDEO_HOSTS: Final = ("www.youtube-nocookie.com", "player.vimeo.com")
"""What the demo lets pages embed, unless EMBED_HOSTS says something else."""
SHARED_MODULES: Final = (
    "uvicorn.main",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.app.control",
    "celery.app.log",
    "celery.beat",
    "celery.concurrency.thread",
    "celery.worker.components",
    "celery.worker.consumer",
    "mcp_bridge.management.commands.run_mcp",
)
"""What the programs load besides the site itself."""


def require_loopback(host: str) -> None:
    """Raise `CommandError` unless the address is of this machine only."""
    if not is_loopback_host(host):
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


def worker(name: str, queues: str, *options: str) -> Program:
    """A worker that takes from these queues."""
    return Program(
        name,
        "celery",
        (
            "--quiet", "-A", "cms_project", "worker", "--queues", queues, "--pool", "threads",
            "--concurrency", "4", "--loglevel", "WARNING", "--without-gossip", "--without-mingle",
            *options,
        ),
        ignored_warning="You're running the worker",
    )  # fmt: skip


class Command(BaseCommand):
    help = (
        "Run the site, the worker, the scheduler and the MCP server together, with sample content."
    )
    stdout_is_ready = False
    # A broken definition must not keep the site from starting: `prepare` says what is wrong.
    requires_system_checks = ()
    # Where a process can be copied safely once it has loaded libraries of the system, which macOS refuses.
    is_forking: ClassVar[bool] = sys.platform == "linux"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="An address of this machine only.")

    def handle(self, *args: Any, host: str, **options: Any) -> None:
        self.host, self.env = host, settings.CMS_ENV
        self.started = time.monotonic()
        require_loopback(host)
        if self.env.site_url:
            require_loopback(urlsplit(self.env.site_url).hostname or "")
        require_free(self.env.port, "PORT")
        require_free(self.env.mcp_port, "MCP_PORT")
        children = Children(
            self.programs(), environ=self.environ(), out=sys.stdout, is_forking=self.is_forking
        )
        with stopped_by_signals(children):
            run_here = self.supervise(children)
        # In a forked process, with the signals as they are at the start of any.
        if run_here is not None and not children.is_stopping.is_set():
            run_here()

    def supervise(self, children: Children) -> Callable[[], None] | None:
        """Prepare, and run the programs until they are to stop. Returns what a forked process has to do."""
        if not self.is_forking:
            self.prepare()
        else:
            # Apart, so that its connections, and memory that it no longer needs, are passed on to nobody.
            preparation = fork()
            if preparation is None:
                return self.prepare_apart
            self.load()
            while (code := preparation.poll()) is None:
                if children.is_stopping.is_set():
                    os.kill(preparation.pid, signal.SIGTERM)
                time.sleep(0.02)
            if code and not children.is_stopping.is_set():
                if code < 0:
                    raise CommandError(f"What prepares the database {how_it_ended(code)}")
                sys.exit(code)
        try:
            if not children.is_stopping.is_set() and (program := children.start()):
                return program.run
            ended = children.wait(self.announce)
        finally:
            children.stop()
        if ended:
            code = children.exit_codes()[ended.name] or 0
            raise CommandError(f"{ended.name} {how_it_ended(code)}")
        self.stdout.write("Stopped.")
        return None

    def prepare_apart(self) -> None:
        """Prepare in a forked process. Ctrl-C reaches it too, but the other one ends both."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.prepare()

    def load(self) -> None:
        """Load what the programs need, so that the memory of it is theirs together."""
        if not settings.CMS_ENV.embed_hosts:  # what `environ` says to programs that are no copies
            settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": VIDEO_HOSTS})
            frames = ["'self'", *(f"https://{host}" for host in VIDEO_HOSTS)]
            settings.SECURE_CSP = {**settings.SECURE_CSP, "frame-src": frames}
        for module in (settings.ASGI_APPLICATION.rpartition(".")[0], settings.ROOT_URLCONF):
            import_module(module)
        of_redis = ("redis", "kombu.transport.redis") if settings.CMS_ENV.redis_url else ()
        for module in (*SHARED_MODULES, *of_redis):
            import_module(module)
        app = task_app()
        app.loader.import_default_modules()
        app.finalize()
        # The collector writes to whatever it looks at, which would make a copy of it in each process.
        gc.collect()
        gc.freeze()

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
        return {"EMBED_HOSTS": ",".join(settings.CMS_ENV.embed_hosts or VIDEO_HOSTS)}

    def programs(self) -> list[Program]:
        """Return what runs."""
        host = self.host
        return [
            Program(
                "web",
                "uvicorn",
                (
                    "cms_project.asgi:application", "--host", host, "--port", str(self.env.port),
                    "--lifespan", "off", "--log-level", "warning",
                    # No proxy stands in front: who says so in a header would be whoever they like, and on HTTPS.
                    "--no-proxy-headers", "--timeout-graceful-shutdown", "3",
                ),
            ),
            worker(
                "worker", "celery,deliveries",
                "-B", "--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME,
            ),
            # Agents wait for models, and keep nothing else waiting.
            worker("agents", "agents", "--hostname", "agents@%h"),
            Program("mcp", "manage", ("run_mcp", "--host", host, "--port", str(self.env.mcp_port))),
        ]  # fmt: skip

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
