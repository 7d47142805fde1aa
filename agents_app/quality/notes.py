"""The notes of rejections: what they say most, and whether they were heeded."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from agents_app.quality.decisions import Decision, DecisionOutcome, Subject
from analytics.experiments.confidence import Range, Tally, wilson

MAX_TERMS: Final = 10
MAX_NOTES: Final = 10
MIN_NOTES: Final = 10
"""Number of notes with a later decision from which a share is judged."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_FUNCTION_WORDS: Final = frozenset(
    (Path(__file__).parent / "function_words.txt").read_text(encoding="utf-8").split()
)
"""English and German words that say nothing on their own."""


@dataclass(frozen=True, slots=True)
class NoteTerm:
    """A word of notes, and the number of notes that have it."""

    term: str
    notes: int


@dataclass(frozen=True, slots=True)
class RepeatedNote:
    """A note, and how often people wrote it."""

    note: str
    count: int


@dataclass(frozen=True, slots=True)
class HeededNotes:
    """What became of the places of rejections with a note.

    `notes`: all of them; `heeded`: the next proposal there was accepted; `ignored`: it was rejected again.
    The others have no later decision.
    """

    notes: int = 0
    heeded: int = 0
    ignored: int = 0

    @property
    def decided(self) -> int:
        return self.heeded + self.ignored

    @property
    def share(self) -> float | None:
        return self.heeded / self.decided if self.decided else None

    @property
    def interval(self) -> Range | None:
        """The 95 % interval of the share; None if there are too few to tell."""
        if self.decided < MIN_NOTES:
            return None
        return wilson(Tally(self.decided, self.heeded))


def frequent_terms(rows: Iterable[Decision]) -> list[NoteTerm]:
    """Return the words that most notes have. A note of one rejection counts once."""
    found: Counter[str] = Counter()
    for note in _notes(rows):
        found.update(set(_WORD.findall(note.casefold())) - _FUNCTION_WORDS)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [NoteTerm(term, count) for term, count in ranked[:MAX_TERMS]]


def frequent_notes(rows: Iterable[Decision]) -> list[RepeatedNote]:
    """Return the most frequent notes, without regard to case and spaces, as written last."""
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for note in _notes(rows):
        key = " ".join(note.casefold().split())
        counts[key] += 1
        written[key] = note
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [RepeatedNote(written[key], count) for key, count in ranked[:MAX_NOTES]]


def _notes(rows: Iterable[Decision]) -> Iterable[str]:
    """Return the note of each rejection once, although it may cover many changes."""
    seen = {
        (row.post_id, row.at, row.note): row.note
        for row in rows
        if row.note and row.outcome == DecisionOutcome.REJECTED
    }
    return seen.values()


def heeded_notes(rows: Sequence[Decision]) -> dict[Subject, HeededNotes]:
    """Return by proposer whether its next proposal at the same place was accepted. `rows`: oldest first."""
    places: dict[tuple[Subject, UUID, str], list[Decision]] = defaultdict(list)
    for row in rows:
        places[row.subject, row.post_id, row.path].append(row)
    counts: dict[Subject, Counter[str]] = defaultdict(Counter)
    for (subject, _post, _path), decisions in places.items():
        for place, row in enumerate(decisions):
            if row.outcome != DecisionOutcome.REJECTED or not row.note:
                continue
            counts[subject]["notes"] += 1
            later = decisions[place + 1] if place + 1 < len(decisions) else None
            if later is not None:
                counts[subject]["heeded" if later.is_accepted else "ignored"] += 1
    return {
        subject: HeededNotes(count["notes"], count["heeded"], count["ignored"])
        for subject, count in counts.items()
    }
