"""The blocks of a page, carried out one after the other: its files are written, and its commands run as written."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.deployment.fresh import Terminal
from tests.deployment.written import ROOT

_BLOCK: Final = re.compile(r"(?ms)(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$")
_COMMAND: Final = re.compile(r"(?m)^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)")
_START: Final = "./run"


@dataclass(frozen=True)
class Block:
    file: str
    """The file that the page names before the block, if any."""
    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(*found) for found in _BLOCK.findall(text)]


@dataclass
class Machine:
    """The two terminals of a reader: one for the site, one for everything else."""

    folder: Path
    variables: dict[str, str]
    site: Terminal
    ports: dict[str, int]
    """The ports of the page, and the free ones that the site uses here."""

    def written_here(self, text: str) -> str:
        """Return the text with the ports of this machine."""
        for written, used in self.ports.items():
            text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{used}")
        return text

    def run(self, command: str) -> str:
        """Run a command as written. Return its output. `cd` changes the folder for the next ones."""
        place = Path(self.variables["HOME"]) / "folder"
        done = subprocess.run(
            [
                "/bin/sh",
                "-c",
                f"{self.written_here(command)}\nstatus=$?; pwd >{place}; exit $status",
            ],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1200,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        self.folder = Path(place.read_text().strip())
        return done.stdout

    def start(self) -> str:
        return self.site.start(_START, self.folder, self.variables)

    def restart(self) -> None:
        self.site.stop()
        self.start()


@dataclass
class Page:
    """A page that is read from top to bottom."""

    name: str
    machine: Machine
    left: deque[Block] = field(init=False)

    def __post_init__(self) -> None:
        self.left = deque(blocks_of(self.name))

    @property
    def text(self) -> str:
        return (ROOT / self.name).read_text(encoding="utf-8")

    def follow(self, count: int = 1, *, but: Sequence[str] = ()) -> None:
        """Carry out the next blocks, except for some commands.

        The output of a command must be the one on the page, if it shows any.
        """
        for _ in range(count):
            block = self.left.popleft()
            if block.file:
                file = self.machine.folder / block.file
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
            else:
                assert block.language == "console", block
                self._run(block, but)

    def shown(self) -> list[str]:
        """Return the lines of the next block, which shows what the reader sees."""
        block = self.left.popleft()
        assert block.language == "text", block
        return [self.machine.written_here(line).strip() for line in block.text.splitlines() if line]

    def skip(self) -> str:
        """Leave the next block out, and return it."""
        return self.left.popleft().text

    def _run(self, block: Block, but: Sequence[str]) -> None:
        commands = _COMMAND.findall(block.text)
        assert commands, block.text
        for written, output in commands:
            command = written.replace("\n> ", "\n").rstrip()
            name = command.partition(" #")[0].rstrip()
            if name in but:
                continue
            if name == _START:
                self.machine.start()
                continue
            said = self.machine.run(command)
            if output.strip():
                assert said.strip() == self.machine.written_here(output).strip()
