"""Ranges of rates and of differences that figures of a test can be trusted for. Pure sums, without a database.

The range of a difference holds however often somebody looks: it is an asymptotic confidence sequence (Waudby-Smith,
Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", 2021,
arXiv 2103.06476, theorem 2.2 and section 3 for two arms that are drawn at random).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, erfc, exp, gamma, log, sqrt
from typing import Final

ALPHA: Final = 0.05
"""How often all ranges of one test together may miss the truth."""
NARROWEST_AT: Final = 10_000
"""The number of views at which the range of a difference is as narrow as its kind can be."""
POWER: Final = 0.84
"""The quantile of the normal distribution for a chance of 80 % to see an effect that is there."""
_Z: Final = 1.959963984540054
_MAX_VIEWS: Final = 10**12


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


def chance_of_split(views: Sequence[int], weights: Sequence[float]) -> float:
    """Return how likely a split as far from the weights is, if visitors are drawn by them (Pearson's chi-square).

    Arms of no weight are left out. 1 where nothing can be told.
    """
    pairs = [(seen, weight) for seen, weight in zip(views, weights, strict=True) if weight > 0]
    seen_all, weight_all = sum(seen for seen, _ in pairs), sum(weight for _, weight in pairs)
    if len(pairs) < 2 or not seen_all:
        return 1.0
    expected = [(seen, seen_all * weight / weight_all) for seen, weight in pairs]
    found = sum((seen - wanted) ** 2 / wanted for seen, wanted in expected)
    return chi_square_tail(found, len(pairs) - 1)


def chi_square_tail(value: float, degrees: int) -> float:
    """P(X >= value) of the chi-square distribution (Abramowitz and Stegun 26.4.4 and 26.4.5: finite sums)."""
    half = value / 2
    if half > 700:
        return 0.0  # below what a float holds
    if degrees % 2:
        powers = [index + 0.5 for index in range(degrees // 2)]
        begin = erfc(sqrt(half))
    else:
        powers, begin = [float(index) for index in range(degrees // 2)], 0.0
    tail: float = sum(half**power / gamma(power + 1) for power in powers)
    return begin + exp(-half) * tail


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
