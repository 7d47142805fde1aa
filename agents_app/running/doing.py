"""What a run does at present, in words for people."""

from __future__ import annotations

import time
from typing import Final

from agents_app.models import AgentRun
from agents_app.running.owning import own

WAITING: Final = "Waiting for the model"
_SECONDS: Final = 1.0
_CHARACTERS_OF_A_WORD: Final = 6


class Doing:
    """Writes it into the row, about once a second where it only grows."""

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self._said = ""
        self._next = 0.0

    def say(self, text: str) -> None:
        """Something new; the words are of this service."""
        if text != self._said:
            self._said, self._next = text, time.monotonic() + _SECONDS
            own(self._run).update(doing=text[:200])

    def wrote(self, characters: int) -> None:
        """So much of an answer has come."""
        if time.monotonic() >= self._next:
            words = max(characters // _CHARACTERS_OF_A_WORD, 1)
            self.say(f"Writing, about {_round(words):,} words so far")


def _round(words: int) -> int:
    return words if words < 20 else words // 10 * 10
