"""Several processes in one terminal: prefixed output, one end for all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

GRACE_SECONDS = 7.0
"""How long children may take to stop by themselves before they are killed."""
_COLOURS = (36, 33, 35, 32)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Program:
    """A command to run under a name."""

    name: str
    command: Sequence[str]


class Terminal(Protocol):
    """Prints the output of programs."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


class Children:
    """Started programs. Their output goes line by line to `out`, each line behind its program's name."""

    def __init__(
        self, programs: Sequence[Program], *, environ: dict[str, str], out: Terminal
    ) -> None:
        self.programs = programs
        self.environ = {**os.environ, "PYTHONUNBUFFERED": "1", **environ}
        self.out = out
        self.is_stopping = threading.Event()
        self._running: list[tuple[Program, subprocess.Popen[str]]] = []
        self._readers: list[threading.Thread] = []

    def start(self) -> None:
        """Start every program."""
        width = max(len(program.name) for program in self.programs)
        for number, program in enumerate(self.programs):
            process = subprocess.Popen(  # noqa: S603  # the commands are this project's own
                program.command,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # Ctrl-C reaches this process only; it then stops the others in order.
                start_new_session=True,
            )
            self._running.append((program, process))
            prefix = self._prefix(program.name.ljust(width), number)
            reader = threading.Thread(target=self._copy, args=(process, prefix), daemon=True)
            reader.start()
            self._readers.append(reader)

    def wait(self, on_tick: Callable[[], None]) -> Program | None:
        """Wait until asked to stop (None) or until a program ends by itself (that program)."""
        while not self.is_stopping.wait(0.2):
            for program, process in self._running:
                if process.poll() is not None:
                    return program
            on_tick()
        return None

    def stop(self) -> None:
        """End all: first by asking, then by force."""
        for _, process in self._running:
            _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for _, process in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            # What a program started itself (a reloader's child, say) must not outlive it.
            _signal(process, signal.SIGKILL)
            process.wait()
        for reader in self._readers:
            reader.join(1)

    def _copy(self, process: subprocess.Popen[str], prefix: str) -> None:
        for line in process.stdout or ():
            self.out.write(f"{prefix}{line}" if line.endswith("\n") else f"{prefix}{line}\n")
            self.out.flush()

    def _prefix(self, name: str, number: int) -> str:
        if not self.out.isatty() or os.environ.get("NO_COLOR"):
            return f"{name} | "
        return f"\033[{_COLOURS[number % len(_COLOURS)]}m{name} |\033[0m "


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


@contextmanager
def stopped_by_signals(children: Children) -> Iterator[None]:
    """SIGINT, SIGTERM and a closed terminal end the block's `wait` in place of this process."""

    def handle(number: int, frame: FrameType | None) -> None:
        children.is_stopping.set()

    before = {number: signal.signal(number, handle) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def python(*arguments: str) -> list[str]:
    """A command in the running interpreter."""
    return [sys.executable, *arguments]
