"""Several processes in one terminal, with prefixed output and a common end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from runpy import run_module
from types import FrameType
from typing import Protocol, TextIO

GRACE_SECONDS = 7.0
"""Seconds that children have to stop before they are killed."""
_POLL_SECONDS = 0.02
_PARENT_SECONDS = 0.5
"""Seconds between checks whether the parent is alive."""
_COLOURS = (36, 33, 35, 32)
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Program:
    """A module to run under a name, as with `python -m`. Warnings that start with `ignored_warning` are hidden."""

    name: str
    module: str
    arguments: Sequence[str] = ()
    ignored_warning: str = ""

    @property
    def command(self) -> list[str]:
        """The command for a separate process, with the running interpreter."""
        return self._run_module(self.module, *self.arguments)

    @property
    def bound_command(self) -> list[str]:
        """The command for a process that ends with this one."""
        launcher = "proofroom.core.process_runner"
        return self._run_module(launcher, str(os.getpid()), self.module, *self.arguments)

    def _run_module(self, module: str, *arguments: str) -> list[str]:
        ignored = ["-W", f"ignore:{self.ignored_warning}"] if self.ignored_warning else []
        return [sys.executable, *ignored, "-m", module, *arguments]

    def run(self) -> None:
        """Run it in this process."""
        if self.ignored_warning:
            warnings.filterwarnings("ignore", re.escape(self.ignored_warning))
        sys.argv = [self.module, *self.arguments]
        run_module(self.module, run_name="__main__", alter_sys=True)


class Terminal(Protocol):
    """The output stream of the programs."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


class Process(Protocol):
    """A started process."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...


class ForkedProcess:
    """A process forked from this one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative after a signal; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def fork() -> ForkedProcess | None:
    """Fork this process. Return the child, and None in the child.

    Only the calling thread exists in the child, so locks of other threads would never be released. Raises
    `RuntimeError` if there are other threads.
    """
    if threading.active_count() > 1:
        raise RuntimeError("a process with threads cannot be forked safely")
    # Buffered output would be written twice.
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return ForkedProcess(pid)
    end_with(parent)
    return None


def end_with(parent: int) -> None:
    """End this process when its parent has ended, for whatever reason.

    A process group leader ends its whole group: with SIGTERM, then with SIGKILL.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        if os.getpgrp() != os.getpid():
            os.kill(os.getpid(), signal.SIGKILL)
        os.killpg(0, signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()


class Children:
    """Started programs. Each line of their output goes to `out` with the program's name in front.

    With `is_forking` they are forked from this process and share its loaded memory.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        environ: dict[str, str],
        out: Terminal,
        is_forking: bool = False,
    ) -> None:
        self.programs = programs
        self.environ = {**os.environ, "PYTHONUNBUFFERED": "1", **environ}
        self.out = out
        self.is_forking = is_forking
        self.is_stopping = threading.Event()
        self._running: list[tuple[Program, Process]] = []
        self._outputs: list[TextIO] = []
        self._readers: list[threading.Thread] = []

    def start(self) -> Program | None:
        """Start all programs. Return None; in a forked process, the program to run."""
        for program in self.programs:
            read_end, write_end = os.pipe()
            self._outputs.append(os.fdopen(read_end, encoding="utf-8", errors="replace"))
            process = fork() if self.is_forking else self._spawn(program, write_end)
            if process is None:
                self._become_child(write_end)
                return program
            os.close(write_end)
            self._running.append((program, process))
        width = max(len(program.name) for program in self.programs)
        for number, (program, output) in enumerate(zip(self.programs, self._outputs, strict=True)):
            prefix = self._prefix(program.name.ljust(width), number)
            # Only after the last fork: a child would inherit locks that a thread holds.
            reader = threading.Thread(target=self._copy, args=(output, prefix), daemon=True)
            reader.start()
            self._readers.append(reader)
        return None

    def wait(self, on_tick: Callable[[], None]) -> Program | None:
        """Wait until stopped (return None) or until a program ends by itself (return it)."""
        while not self.is_stopping.wait(0.2):
            for program, process in self._running:
                if process.poll() is not None:
                    return program
            on_tick()
        return None

    def stop(self) -> None:
        """Stop all programs: with SIGTERM, then with SIGKILL."""
        for _, process in self._running:
            _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and self._is_running():
            time.sleep(_POLL_SECONDS)
        # Kill the groups even if the programs have ended: a child of theirs, such as a reloader's,
        # must not outlive them.
        for _, process in self._running:
            _signal(process, signal.SIGKILL)
        while self._is_running():
            time.sleep(_POLL_SECONDS)
        for reader in self._readers:
            reader.join(1)

    def exit_codes(self) -> dict[str, int | None]:
        """Return the exit code of each program by name; None for running ones."""
        return {program.name: process.poll() for program, process in self._running}

    def _is_running(self) -> bool:
        return None in self.exit_codes().values()

    def _spawn(self, program: Program, output: int) -> Process:
        return subprocess.Popen(  # noqa: S603  # the project's own commands
            program.bound_command,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C then reaches only this process, which stops the others in order.
            start_new_session=True,
        )

    def _become_child(self, output: int) -> None:
        """Set up this forked process as `_spawn` sets up a new one."""
        # Like `start_new_session`.
        os.setsid()
        with open(os.devnull) as null_device:
            os.dup2(null_device.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        for other in self._outputs:
            other.close()
        self._running, self._outputs = [], []  # the parent ends the other programs
        os.environ.update(self.environ)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(write_through=True)

    def _copy(self, output: TextIO, prefix: str) -> None:
        for line in output:
            # Keep reading if the terminal is gone: a full pipe would block the program.
            with suppress(OSError, ValueError):
                self.out.write(f"{prefix}{line}" if line.endswith("\n") else f"{prefix}{line}\n")
                self.out.flush()

    def _prefix(self, name: str, number: int) -> str:
        if not self.out.isatty() or os.environ.get("NO_COLOR"):
            return f"{name} | "
        return f"\033[{_COLOURS[number % len(_COLOURS)]}m{name} |\033[0m "


def describe_exit(code: int) -> str:
    """Return a sentence about the unexpected end of a process, from its exit code."""
    if code >= 0:
        return f"ended by itself with exit code {code}; its last lines above say why."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    # The kernel kills processes with SIGKILL when memory runs out.
    memory = " Was there memory enough?" if code == -signal.SIGKILL else ""
    return f"was ended by {name}, not by itself.{memory}"


def _signal(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


@contextmanager
def stopped_by_signals(children: Children) -> Iterator[None]:
    """End the block's `wait` on SIGINT, SIGTERM and a closed terminal, instead of ending this process."""

    def handle(number: int, frame: FrameType | None) -> None:
        children.is_stopping.set()

    before = {number: signal.signal(number, handle) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    Program("", sys.argv[2], sys.argv[3:]).run()
