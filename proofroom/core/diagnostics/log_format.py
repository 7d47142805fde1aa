"""The format of records in the log file, by which a reader recognises where a record begins."""

from __future__ import annotations

import re
from typing import Final

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
BEGINNING: Final = re.compile(
    r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+) ",
    re.MULTILINE,
)


def one_record(text: str) -> str:
    """Indent lines of a record that look like the beginning of another one.

    Visitors could forge records with such lines.
    """
    first, *rest = text.split("\n")
    return "\n".join([first, *(f" {line}" if BEGINNING.match(line) else line for line in rest)])
