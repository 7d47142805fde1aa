"""The site of the soak: the processes of deploy/Procfile, which are killed and restarted one after another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import IO, Final

from benchmarks.postgres import free_port
from benchmarks.processes import memory_of
from benchmarks.servers import cpu_seconds, processes_below

ROOT: Final = Path(__file__).resolve().parents[1]
STARTED: Final = ("web", "worker", "agents", "beat", "mcp")
"""Processes of the Procfile, in start order. The soak uses no WebSockets."""
VICTIMS: Final = ("web-1", "worker", "mcp", "web-2", "agents")
"""Killed processes, in turns. The web server restarts its killed processes itself."""
RESTART_AFTER: Final = 1.0
"""Seconds until a supervisor notices that a process has ended."""
START_TIMEOUT: Final = 180.0


@dataclass(frozen=True, slots=True)
class Look:
    """A sample of a process: time, KiB of memory, and CPU seconds so far."""

    at: float
    kib: int
    cpu: float


@dataclass(slots=True)
class Life:
    """A process from its start to its end, with its samples."""

    name: str
    pid: int
    born: float
    looks: list[Look] = field(default_factory=list)

    @property
    def age(self) -> float:
        return self.looks[-1].at - self.born if self.looks else 0.0

    def age_after(self, cpu: float) -> float:
        """Return its age when it had used this many CPU seconds, or its final age if it never did."""
        return next((look.at - self.born for look in self.looks if look.cpu >= cpu), self.age)

    def held(self, begin: float, end: float) -> float:
        """Return the median KiB between `begin` and `end` seconds after its start."""
        return median(
            [look.kib for look in self.looks if begin <= look.at - self.born <= end]
            or [self.looks[-1].kib]
        )


@dataclass(frozen=True, slots=True)
class Kill:
    """A killed process, and the time in which calls to it may fail."""

    name: str
    at: float
    until: float


def commands() -> dict[str, str]:
    """Return the command of each process in deploy/Procfile."""
    lines = (ROOT / "deploy" / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


class Site:
    """The running site. Its processes write their output to files in `folder`."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.web_port, self.mcp_port = free_port(), free_port()
        self.kills: list[Kill] = []
        self.lives: list[Life] = []
        self._folder = folder
        self._path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environ = {
            **os.environ,
            "PATH": self._path,
            "PORT": str(self.web_port),
            "MCP_PORT": str(self.mcp_port),
            **environ,
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: list[IO[bytes]] = []

    def start(self, name: str) -> None:
        log = (self._folder / f"{name}.log").open("ab")
        self._logs.append(log)
        self._running[name] = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {commands()[name]}"],
            cwd=ROOT,
            env=self._environ,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def wait_until_up(self) -> None:
        for port in (self.web_port, self.mcp_port):
            deadline = time.monotonic() + START_TIMEOUT
            while not self._answers(port):
                if time.monotonic() > deadline:
                    raise SystemExit(
                        f"The site did not start:\n{self.said('web')}\n{self.said('mcp')}"
                    )
                time.sleep(0.1)
        while len(self.pids()) < len(VICTIMS):
            time.sleep(0.1)

    def _answers(self, port: int) -> bool:
        try:
            address = f"http://127.0.0.1:{port}/health/live"
            urllib.request.urlopen(address, timeout=5).close()  # a server of ours
        except OSError:
            return False
        return True

    def pids(self) -> dict[str, int]:
        """Return the ids of running processes, by the names of `VICTIMS`."""
        found = {
            name: process.pid
            for name, process in self._running.items()
            if name in VICTIMS and process.poll() is None
        }
        workers = _workers_of(self._running["web"].pid)
        known = {life.pid: life.name for life in self.lives}
        free = [
            name for name in ("web-1", "web-2") if name not in {known.get(pid) for pid in workers}
        ]
        for pid in workers:
            found[known[pid] if pid in known else free.pop(0)] = pid
        return found

    def look(self) -> None:
        """Record the memory of each process."""
        now = time.monotonic()
        for name, pid in self.pids().items():
            life = next((one for one in self.lives if (one.name, one.pid) == (name, pid)), None)
            if life is None:
                life = Life(name, pid, now)
                self.lives.append(life)
            try:
                life.looks.append(Look(now, memory_of(pid).proportional, cpu_seconds(pid)))
            except (FileNotFoundError, ProcessLookupError, ValueError):
                continue  # it was killed in the meantime

    def kill(self, name: str) -> None:
        """Kill a process with SIGKILL, and wait until it is back."""
        before = self._find(name)
        self.look()
        started = time.monotonic()
        os.kill(before, signal.SIGKILL)
        if name in self._running:
            self._running.pop(name).wait()
            time.sleep(RESTART_AFTER)
            self.start(name)
        while self.pids().get(name) in (None, before) or (
            name == "mcp" and not self._answers(self.mcp_port)
        ):
            if time.monotonic() - started > START_TIMEOUT:
                raise SystemExit(f"{name} did not come back:\n{self.said(name.partition('-')[0])}")
            time.sleep(0.1)
        self.kills.append(Kill(name, started, time.monotonic() + 2.0))

    def _find(self, name: str) -> int:
        """Return the id of a process. Waits, because `/proc` may omit children while others start or end."""
        deadline = time.monotonic() + START_TIMEOUT
        while (pid := self.pids().get(name)) is None:
            if time.monotonic() > deadline:
                raise SystemExit(f"{name} ended by itself:\n{self.said(name.partition('-')[0])}")
            time.sleep(0.1)
        return pid

    def is_broken_by_a_kill(self, name: str, begin: float, end: float) -> bool:
        """Return True if a call to `web` or `mcp` in this time may have met a killed process."""
        return any(
            kill.name.startswith(name) and begin <= kill.until and end >= kill.at
            for kill in self.kills
        )

    def manage(self, *words: str) -> tuple[int, str]:
        """Run `manage.py` in the site's environment. Return exit code and output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self._environ | {"PYTHONWARNINGS": "ignore"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def said(self, name: str) -> str:
        path = self._folder / f"{name}.log"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""

    def stop(self) -> None:
        for process in self._running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for log in self._logs:
            log.close()


def _workers_of(server: int) -> list[int]:
    """Return the worker processes of granian: its children except the resource tracker."""
    found = []
    for pid in processes_below(server)[1:]:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if command and b"resource_tracker" not in command:
            found.append(pid)
    return found


@contextmanager
def running_site(folder: Path, environ: Mapping[str, str]) -> Iterator[Site]:
    site = Site(folder, environ)
    try:
        code, output = site.manage("collectstatic", "--noinput", "--verbosity", "0")
        if code:
            raise SystemExit(output)
        for name in STARTED:
            site.start(name)
        site.wait_until_up()
        yield site
    finally:
        site.stop()
