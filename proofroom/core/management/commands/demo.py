"""The demo: site, worker, scheduler and MCP server in one terminal, with sample content."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit
from urllib.request import urlopen

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import check_password
from django.core.checks import run_checks
from django.core.files import locks
from django.core.management import BaseCommand, CommandError, call_command, get_commands
from django.db import DEFAULT_DB_ALIAS, connection

from proofroom.core.database.migrate import earlier_version_message
from proofroom.core.process_runner import (
    Children,
    ForkedProcess,
    Program,
    describe_exit,
    fork,
    stopped_by_signals,
)
from proofroom.core.task_queue import task_app
from proofroom.core.validation.host_names import is_loopback_host

_ACCOUNTS_TRIED: Final = 5
"""Number of accounts, the oldest ones, that may still be those of the demo. A check of a password takes time."""
PASSWORD = "demo-password"  # noqa: S105  # public on purpose, for this machine only
VIDEO_HOSTS: Final = ("www.youtube-nocookie.com", "player.vimeo.com")
"""Video hosts that the demo allows in embeds, unless EMBED_HOSTS is set."""
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
"""Modules that the programs import besides the site."""


def require_loopback(host: str) -> None:
    """Raise `CommandError` unless the host is a loopback address."""
    if not is_loopback_host(host):
        raise CommandError(
            f"The demo has accounts with a known password, so it only listens on loopback addresses, not on {host}. "
            "See docs/how-to/deploy.md for public sites."
        )


def require_free(port: int, variable: str) -> None:
    """Raise `CommandError` if the port is in use."""
    with socket.socket() as probe:
        # A port that only waits in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise CommandError(
                f"Port {port} is in use. Stop the other program, or set {variable} to another port."
            ) from None


@contextmanager
def only_demo_of(folder: Path) -> Iterator[None]:
    """Raise `CommandError` if another demo uses the data folder: two schedulers would do everything twice.

    The lock ends with this process, also if it is killed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "demo.lock").open("a") as file:
        if not locks.lock(file, locks.LOCK_EX | locks.LOCK_NB):
            raise CommandError(
                f"Another demo uses {folder}. Stop it, or set CMS_DATA_DIR to another folder."
            )
        yield


def answers(url: str) -> bool:
    """Return whether a GET of the URL answers 200."""
    try:
        with urlopen(url, timeout=1) as response:  # noqa: S310  # a URL of this machine
            return bool(response.status == 200)
    except OSError:
        return False


def demo_accounts() -> list[str]:
    """Return the addresses of accounts that log in with the demo's password, the oldest first."""
    people = get_user_model()._default_manager.exclude(role="ai_agent").filter(is_active=True)
    found = people.order_by("pk")[:_ACCOUNTS_TRIED]
    return [user.email for user in found if check_password(PASSWORD, user.password)]


def describe_accounts(emails: Sequence[str]) -> str:
    """Return the lines about how to log in."""
    if emails:
        lines = [
            f"  Accounts, all with the password {PASSWORD}",
            *(f"            {one}" for one in emails),
        ]
        return "\n".join(lines)
    return "  Log in with your own account. To add one: ./run createsuperuser"


def worker(name: str, queues: str, *options: str) -> Program:
    """Return a Celery worker for these queues."""
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
    # A broken definition must not keep the site from starting; `report_problems` prints it.
    requires_system_checks = ()
    # Forking with loaded system libraries is safe on Linux, but not on macOS.
    is_forking: ClassVar[bool] = sys.platform == "linux"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="A loopback address.")

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
        with only_demo_of(settings.DATA_DIR), stopped_by_signals(children):
            run_here = self.supervise(children)
        # In a forked process, with the default signal handlers.
        if run_here is not None and not children.is_stopping.is_set():
            run_here()

    def supervise(self, children: Children) -> Callable[[], None] | None:
        """Prepare the site and run the programs until they stop.

        In a forked process, return the function it must run.
        """
        if not self.is_forking:
            self.report_problems()
            self.prepare()
        else:
            # In separate processes, so that the programs don't inherit their connections and unused
            # memory.
            preparations = []
            for step in (self.report_problems, self.prepare):
                preparation = fork()
                if preparation is None:
                    return partial(self.run_apart, step)
                preparations.append(preparation)
            self.load()
            self.wait_for(preparations, children)
        try:
            if not children.is_stopping.is_set() and (program := children.start()):
                return program.run
            ended = children.wait(self.announce)
        finally:
            children.stop()
        if ended:
            code = children.exit_codes()[ended.name] or 0
            raise CommandError(f"{ended.name} {describe_exit(code)}")
        self.stdout.write("Stopped.")
        return None

    def run_apart(self, step: Callable[[], None]) -> None:
        """Run a step in a forked process. It ignores Ctrl-C, because its parent ends it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        step()

    def wait_for(self, preparations: Sequence[ForkedProcess], children: Children) -> None:
        """Wait until all end. Exit if one of them failed."""
        while running := [process for process in preparations if process.poll() is None]:
            if children.is_stopping.is_set():
                for process in running:
                    os.kill(process.pid, signal.SIGTERM)
            time.sleep(0.02)
        code = next(filter(None, (process.poll() for process in preparations)), 0)
        if code and not children.is_stopping.is_set():
            if code < 0:
                raise CommandError(f"The preparation of the database {describe_exit(code)}")
            sys.exit(code)

    def load(self) -> None:
        """Import the modules of all programs before forking, so that they share the memory."""
        if (
            not settings.CMS_ENV.embed_hosts
        ):  # same effect as `environ` has for programs that are not forked
            settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"embed_hosts": VIDEO_HOSTS})
            frames = ["'self'", *(f"https://{host}" for host in VIDEO_HOSTS)]
            settings.SECURE_CSP = {**settings.SECURE_CSP, "frame-src": frames}
        for module in (settings.ASGI_APPLICATION.rpartition(".")[0], settings.ROOT_URLCONF):
            import_module(module)
        redis_modules = ("redis", "kombu.transport.redis") if settings.CMS_ENV.redis_url else ()
        for module in (*SHARED_MODULES, *redis_modules):
            import_module(module)
        app = task_app()
        app.loader.import_default_modules()
        app.finalize()
        # The garbage collector writes to every object, which would copy shared memory into each
        # process. Frozen objects are skipped.
        gc.collect()
        gc.freeze()

    def report_problems(self) -> None:
        """Print the errors that the system checks find, such as broken definitions."""
        for problem in run_checks():
            if problem.is_serious():
                self.stderr.write(f"{problem}\n")

    def prepare(self) -> None:
        """Create the tables, and the sample content if there are no user accounts."""
        if message := earlier_version_message(DEFAULT_DB_ALIAS):
            raise CommandError(message)
        is_first = not connection.introspection.table_names()
        self.stdout.write(
            "Creating the database. The first start takes about 10 seconds ..."
            if is_first
            else "Preparing the database ..."
        )
        self.stdout.flush()
        call_command("migrate", verbosity=0, interactive=False)
        # `migrate` creates accounts of agents, so only other accounts count.
        people = get_user_model()._default_manager.exclude(role="ai_agent")
        if not people.exists() and "seed" in get_commands():
            self.stdout.write("Adding sample content ...")
            self.stdout.flush()
            call_command("seed", stdout=self.stdout)

    def environ(self) -> dict[str, str]:
        return {"EMBED_HOSTS": ",".join(settings.CMS_ENV.embed_hosts or VIDEO_HOSTS)}

    def programs(self) -> list[Program]:
        """Return the programs to run."""
        host = self.host
        return [
            Program(
                "web",
                "uvicorn",
                (
                    "cms_project.asgi:application", "--host", host, "--port", str(self.env.port),
                    "--lifespan", "off", "--log-level", "warning",
                    # There is no proxy, so a client must not set its address or HTTPS by headers.
                    "--no-proxy-headers", "--timeout-graceful-shutdown", "3",
                ),
            ),
            worker(
                "worker", "celery,deliveries",
                "-B", "--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME,
            ),
            # A separate worker, because agents wait long for models and would block other tasks.
            worker("agents", "agents", "--hostname", "agents@%h"),
            Program("mcp", "manage", ("run_mcp", "--host", host, "--port", str(self.env.mcp_port))),
        ]  # fmt: skip

    def announce(self) -> None:
        """Print the URLs once, as soon as the site answers."""
        if self.stdout_is_ready:
            return
        site, mcp = (f"http://{self.host}:{port}" for port in (self.env.port, self.env.mcp_port))
        if not (answers(f"{site}/health") and answers(f"{mcp}/health")):
            return
        self.stdout_is_ready = True
        seconds = time.monotonic() - self.started
        # After the programs were forked, so that none of them inherits this connection.
        accounts = describe_accounts(demo_accounts())
        connection.close()
        self.stdout.write(
            f"\n  Ready in {seconds:.0f} s. Ctrl-C stops everything.\n\n"
            f"  Site      {site}/\n  Admin     {site}/admin/\n  MCP       {mcp}/mcp\n\n"
            f"{accounts}\n"
        )
        self.stdout.flush()
