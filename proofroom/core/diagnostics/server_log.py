"""The end of the application's log file, without secrets and visitors' addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from django.conf import settings

from proofroom.core.actor import Actor
from proofroom.core.diagnostics.log_format import BEGINNING
from proofroom.core.redaction import SecretRedactor

LogLevel = Literal["debug", "info", "warning", "error", "critical"]
LEVELS: Final[tuple[LogLevel, ...]] = ("debug", "info", "warning", "error", "critical")
MAX_LOG_LINES: Final = 500
READ_BYTES: Final = 4 * 1024 * 1024
"""Bytes that are read from the end of the file."""
_MAX_CHARACTERS: Final = 60_000
"""Characters of an answer: about as much as the largest client accepts from one tool."""
_HEAD: Final = 2_000
_TAIL: Final = 6_000


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of the log: a line, possibly with a traceback."""

    at: str
    level: str
    logger: str
    text: str


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The newest records first. `total` counts the records of the level in the part that was read.

    `note` is the reason if there are none.
    """

    records: Sequence[LogRecord]
    total: int
    note: str = ""


_NO_FILE: Final = (
    "The server writes no log file: its log goes to the standard output of its processes, and is kept by what runs "
    "them. CMS_LOG_FILE names a file."
)


def read_log(*, actor: Actor, lines: int = 100, level: LogLevel = "debug") -> LogEnd:
    """Return the newest records of at least `level` with together about `lines` lines. Tracebacks are not split."""
    actor.require_diagnosis("settings.manage")
    file = log_file()
    if file is None:
        return LogEnd((), 0, _NO_FILE)
    wanted = {name.upper() for name in LEVELS[LEVELS.index(level) :]}
    # Start at the first whole record: a secret cut in half would not be recognised.
    text = _read_end(file)
    beginnings = list(BEGINNING.finditer(text))
    ends = [following.start() for following in beginnings[1:]] + [len(text)]
    found = [
        LogRecord(beginning[1], beginning[2], beginning[3], text[beginning.end() : end].rstrip())
        for beginning, end in zip(beginnings, ends, strict=False)
        if beginning[2] in wanted
    ]
    redactor, chosen = SecretRedactor(), list[LogRecord]()
    room, characters = min(lines, MAX_LOG_LINES), _MAX_CHARACTERS
    for record in reversed(found):
        if room <= 0:
            break
        text = redactor.text(record.text)
        if len(text) > _HEAD + _TAIL:
            # The cause of a traceback is at its beginning and its end.
            left_out = len(text) - _HEAD - _TAIL
            text = f"{text[:_HEAD]}\n… {left_out:,} characters …\n{text[-_TAIL:]}"
        room, characters = room - text.count("\n") - 1, characters - len(text)
        if characters < 0:
            break
        chosen.append(LogRecord(record.at, record.level.lower(), record.logger, text))
    return LogEnd(chosen, len(found))


def log_file() -> Path | None:
    """Return the log file of the site's processes; None if they log elsewhere."""
    handler = settings.LOGGING["handlers"].get("file")
    return Path(handler["filename"]) if handler is not None else None


def _read_end(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - READ_BYTES))
            # The part may begin in the middle of a character.
            return file.read(READ_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:  # nothing was logged yet
        return ""
