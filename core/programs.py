"""Programs that read pages by themselves: they are no visitors."""

from __future__ import annotations

import re
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
