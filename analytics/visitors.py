"""Whose visits count: not those of programs, of staff, and of whoever asks not to be counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PROGRAM: Final = re.compile(
    r"bot\b|bot/|crawl|spider|slurp|archiver|mediapartners|facebookexternalhit|lighthouse|"
    r"pagespeed|pingdom|uptime|site24x7|statuscake|phantomjs",
    re.IGNORECASE,
)
"""Programs that say what they are. Others cannot be told from people, and are not guessed at."""
_LONGEST_NAME: Final = 500


def is_program(user_agent: str) -> bool:
    """Whether a browser's name is that of a program that reads pages by itself."""
    return _PROGRAM.search(user_agent[:_LONGEST_NAME]) is not None


def refuses(headers: Mapping[str, str]) -> bool:
    """Whether the visitor's browser asks not to be tracked (Do Not Track, Global Privacy Control)."""
    return headers.get("DNT") == "1" or headers.get("Sec-GPC") == "1"
