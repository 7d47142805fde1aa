"""Verdicts on the arms of a test, from their figures. Pure computations, without the database."""

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
"""Default of the smallest relevant effect, in percent of the rate of A."""
_ODD_SPLIT_EVIDENCE: Final = 100.0
"""Evidence reached by at most one of a hundred fair tests, for daily looks."""
_MIN_EXPECTED_VIEWS: Final = 5


class Verdict(StrEnum):
    """The verdict on an arm compared with A."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no-difference"
    TOO_EARLY = "too-early"


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged arm. `difference` from A, `verdict` and `views_needed` are None for A.

    `views_needed`: further views of the whole test until the smallest effect would probably show;
    None if never.
    """

    tally: Tally
    range: Range
    difference: Range | None = None
    verdict: Verdict | None = None
    views_needed: int | None = None


def judge(
    tallies: Sequence[Tally], weights: Sequence[int], effect: int = USUAL_EFFECT
) -> list[Judged]:
    """Return the arms judged against the first of them, which is A.

    `weights`: percent. The allowed error is divided by the number of comparisons (Bonferroni).
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
                # Other arms get a part of the views meanwhile.
                still_needed = round(max(0, needed - base.views - other.views) * 100 / both)
        judged.append(Judged(other, wilson(other), found, verdict, still_needed))
    return judged


def is_enough(base: Tally, other: Tally) -> bool:
    """Return True if the numbers are large enough for the normal approximation.

    At least 100 views of each, and with a common rate 10 hits and 10 misses of each: the usual rule
    for rates, applied to expected instead of observed counts, so that an arm without hits can be
    judged worse.
    """
    least = min(base.views, other.views)
    rate = _pooled_rate(base, other)
    return least >= MIN_VIEWS and least * min(rate, 1 - rate) >= MIN_HITS


def _pooled_rate(base: Tally, other: Tally) -> float:
    views = base.views + other.views
    return (base.hits + other.hits) / views if views else 0.0


def is_odd_split(tallies: Sequence[Tally], weights: Sequence[int]) -> bool:
    """Return True if the views do not match the weights: some were lost, or assigned differently.

    Returns False if an arm can expect fewer than five views.
    """
    views = [tally.views for tally in tallies]
    least = min((weight for weight in weights if weight > 0), default=0)
    if not least or sum(views) * least < _MIN_EXPECTED_VIEWS * sum(weights):
        return False
    return evidence_of_odd_split(views, weights) >= _ODD_SPLIT_EVIDENCE
