"""The format of records in the log's file, so that whoever reads it can tell where one begins."""

from __future__ import annotations

import re
from typing import Final

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s %(message)s"
BEGINNING: Final = re.compile(
    r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+) ",
    re.MULTILINE,
)


def one_record(text: str) -> str:
    """A formatted record whose further lines cannot pass for records of their own: visitors' words may hold
    lines that look like them."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f" {line}" if BEGINNING.match(line) else line for line in rest)])
