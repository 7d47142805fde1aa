"""Ranges of rates and of differences that figures of a test can be trusted for. Pure sums, without a database.

The range of a difference holds however often somebody looks: it is an asymptotic confidence sequence (Waudby-Smith,
Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", 2021,
arXiv 2103.06476, theorem 2.2 and section 3 for two arms that are drawn at random).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, lgamma, log, sqrt
from typing import Final

ALPHA: Final = 0.05
"""How often all ranges of one test together may miss the truth."""
NARROWEST_AT: Final = 10_000
"""The number of views at which the range of a difference is as narrow as its kind can be."""
POWER: Final = 0.84
"""The quantile of the normal distribution for a chance of 80 % to see an effect that is there."""
_Z: Final = 1.959963984540054
_MAX_VIEWS: Final = 10**12
_SPLIT_PRIOR: Final = 100.0
"""How many views the weights count as in the test of the split: deviations of some percent are found soonest."""
_MAX_EXPONENT: Final = 700.0
"""A float holds no more."""


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both among it."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tally:
    """Views of an arm, and how many of them reached the goal: as many as there are views at most."""

    views: int
    hits: int

    @property
    def rate(self) -> float:
        return self.hits / self.views if self.views else 0.0


def wilson(tally: Tally) -> Range:
    """The 95 % range of one rate. Wilson, "Probable inference", JASA 22 (1927), without correction for continuity.

    It holds for one look, and knows nothing of other arms.
    """
    if not tally.views:
        return Range(0.0, 1.0)
    number, rate, square = tally.views, tally.rate, _Z * _Z
    middle = (rate + square / (2 * number)) / (1 + square / number)
    spread = rate * (1 - rate) / number + square / (4 * number * number)
    reach = _Z * sqrt(spread) / (1 + square / number)
    low = 0.0 if not tally.hits else max(0.0, middle - reach)
    return Range(low, 1.0 if tally.hits == number else min(1.0, middle + reach))


def standard_errors(views: int, alpha: float) -> float:
    """Return how many standard errors a range reaches to each side, after `views`, to hold at every look.

    sqrt(2 (t r² + 1) / (t r²) * log(sqrt(t r² + 1) / alpha)): equation 6 of the paper in standard errors, where
    r² = (-2 log alpha + log(1 - 2 log alpha)) / t* makes it narrowest at about t* views (its appendix B.2).
    A single look would take 1.96.
    """
    own = views * (-2 * log(alpha) + log(1 - 2 * log(alpha))) / NARROWEST_AT
    return sqrt(2 * (own + 1) / own * log(sqrt(own + 1) / alpha))


def difference(base: Tally, other: Tally, alpha: float = ALPHA) -> Range:
    """Return where the rate of `other` less that of `base` lies, at every look together with a chance of 1 - `alpha`.

    The error takes one more hit and one more miss for each arm (after Agresti and Caffo, The American Statistician
    54, 2000): a rate of none in few views would else be certain. Both arms have views.
    """
    error = sqrt(_variance(base) + _variance(other))
    reach = standard_errors(base.views + other.views, alpha) * error
    middle = other.rate - base.rate
    return Range(max(-1.0, middle - reach), min(1.0, middle + reach))


def _variance(tally: Tally) -> float:
    rate = (tally.hits + 1) / (tally.views + 2)
    return rate * (1 - rate) / tally.views


def evidence_of_odd_split(views: Sequence[int], weights: Sequence[float]) -> float:
    """Return how much likelier a split is where visitors are drawn by unknown weights than where they are by these.

    Where they are drawn by these, it reaches a number x in one of x tests at most, however often somebody looks (the
    sequential multinomial test: Lindon and Malek, "Anytime-valid inference for multinomial count data", 2022, arXiv
    2011.03567). Arms of no weight are left out. 1 where nothing can be told.
    """
    pairs = [(seen, weight) for seen, weight in zip(views, weights, strict=True) if weight > 0]
    seen_all, weight_all = sum(seen for seen, _ in pairs), sum(weight for _, weight in pairs)
    if len(pairs) < 2 or not seen_all:
        return 1.0
    found = lgamma(_SPLIT_PRIOR) - lgamma(_SPLIT_PRIOR + seen_all)
    for seen, weight in pairs:
        share = weight / weight_all
        prior = _SPLIT_PRIOR * share
        found += lgamma(prior + seen) - lgamma(prior) - seen * log(share)
    return exp(min(found, _MAX_EXPONENT))


def views_needed(
    rate: float, shares: tuple[float, float], effect: float, alpha: float
) -> int | None:
    """Return how many views two arms need together to see a difference of `effect`, most likely (80 %). None: never.

    A plain estimate: `rate` is that of both, `shares` are the parts of these views that each arm gets.
    """
    if effect <= 0 or not 0 < rate < 1 or min(shares) <= 0:
        return None
    spread = rate * (1 - rate) * (1 / shares[0] + 1 / shares[1])
    low, high = 1, _MAX_VIEWS
    if not _shows(high, spread, effect, alpha):
        return None
    while low < high:
        middle = (low + high) // 2
        if _shows(middle, spread, effect, alpha):
            high = middle
        else:
            low = middle + 1
    return ceil(low)


def _shows(views: int, spread: float, effect: float, alpha: float) -> bool:
    return (standard_errors(views, alpha) + POWER) * sqrt(spread / views) <= effect
