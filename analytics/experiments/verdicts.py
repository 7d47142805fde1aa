"""Verdicts on the arms of a test, from their figures. Pure sums, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from analytics.experiments.confidence import (
    ALPHA,
    Range,
    Tally,
    difference,
    evidence_of_odd_split,
    views_needed,
    wilson,
)

MIN_VIEWS: Final = 100
MIN_HITS: Final = 10
USUAL_EFFECT: Final = 20
"""The smallest effect that somebody would act on, in percent of the rate of A."""
_ODD_SPLIT_EVIDENCE: Final = 100.0
"""Fair tests reach it in one of a hundred at most, though their figures are read every day."""
"""Below this chance a split is no accident: the usual bound of checks that are made every day."""
_MIN_EXPECTED_VIEWS: Final = 5


class Verdict(StrEnum):
    """Of an arm beside A."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no-difference"
    TOO_EARLY = "too-early"


@dataclass(frozen=True, slots=True)
class Judged:
    """An arm. `difference` to A, `verdict` and `views_needed` are None for A; the latter also if none would do.

    `views_needed` are the views of the whole test yet to come until the smallest effect would most likely show.
    """

    tally: Tally
    range: Range
    difference: Range | None = None
    verdict: Verdict | None = None
    views_needed: int | None = None


def judge(
    tallies: Sequence[Tally], weights: Sequence[int], effect: int = USUAL_EFFECT
) -> list[Judged]:
    """The arms beside the first of them, which is A.

    `weights` are percent. Each arm is compared with A at its part of the allowed error (Bonferroni).
    """
    base, *others = tallies
    alpha = ALPHA / max(1, len(others))
    judged = [Judged(base, wilson(base))]
    for place, other in enumerate(others, start=1):
        found = difference(base, other, alpha) if base.views and other.views else None
        if found is None or not is_enough(base, other):
            verdict = Verdict.TOO_EARLY
        elif found.low > 0:
            verdict = Verdict.BETTER
        else:
            verdict = Verdict.WORSE if found.high < 0 else Verdict.NO_DIFFERENCE
        rate, both, still_needed = _pooled_rate(base, other), weights[0] + weights[place], None
        if both:
            shares = (weights[0] / both, weights[place] / both)
            needed = views_needed(rate, shares, rate * effect / 100, alpha)
            if needed is not None:
                # The other arms are given views meanwhile.
                still_needed = round(max(0, needed - base.views - other.views) * 100 / both)
        judged.append(Judged(other, wilson(other), found, verdict, still_needed))
    return judged


def is_enough(base: Tally, other: Tally) -> bool:
    """Return whether sums of so few are near enough to a normal distribution for the range to mean what it says.

    100 views of each, and if both had the same rate, 10 hits and 10 misses of each: the usual rule for rates, asked
    of what is expected and not of what was found, so that an arm that nobody likes can be seen to be worse.
    """
    least = min(base.views, other.views)
    rate = _pooled_rate(base, other)
    return least >= MIN_VIEWS and least * min(rate, 1 - rate) >= MIN_HITS


def _pooled_rate(base: Tally, other: Tally) -> float:
    views = base.views + other.views
    return (base.hits + other.hits) / views if views else 0.0


def is_odd_split(tallies: Sequence[Tally], weights: Sequence[int]) -> bool:
    """Return whether the views were not divided as the weights say: some were lost, or drawn otherwise.

    Not asked where an arm can expect fewer than five views: the chance is none for so few.
    """
    views = [tally.views for tally in tallies]
    least = min((weight for weight in weights if weight > 0), default=0)
    if not least or sum(views) * least < _MIN_EXPECTED_VIEWS * sum(weights):
        return False
    return evidence_of_odd_split(views, weights) >= _ODD_SPLIT_EVIDENCE
