"""Confidence intervals of rates and differences. Pure computations, without the database.

The interval of a difference holds for repeated looks: it is an asymptotic confidence sequence
(Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
confidence sequences", 2021, arXiv 2103.06476, theorem 2.2 and section 3 for two randomly assigned
arms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, lgamma, log, sqrt
from typing import Final

ALPHA: Final = 0.05
"""Probability that any interval of a test misses the true value."""
NARROWEST_AT: Final = 10_000
"""Number of views at which the interval of a difference is narrowest relative to a single look."""
POWER: Final = 0.84
"""Quantile of the normal distribution for a power of 80 %."""
_Z: Final = 1.959963984540054
_MAX_VIEWS: Final = 10**12
_SPLIT_PRIOR: Final = 100.0
"""Weight of the prior in the test of the split, in views: deviations of some percent are found soonest."""
_MAX_EXPONENT: Final = 700.0
"""Maximum argument of `exp` for a float."""


@dataclass(frozen=True, slots=True)
class Range:
    """A closed interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tally:
    """Views of an arm, and the number of them that reached the goal (at most `views`)."""

    views: int
    hits: int

    @property
    def rate(self) -> float:
        return self.hits / self.views if self.views else 0.0


def wilson(tally: Tally) -> Range:
    """Return the 95 % interval of one rate.

    Wilson, "Probable inference", JASA 22 (1927), without continuity correction. It holds for a
    single look, and is not corrected for other arms.
    """
    if not tally.views:
        return Range(0.0, 1.0)
    number, rate, square = tally.views, tally.rate, _Z * _Z
    middle = (rate + square / (2 * number)) / (1 + square / number)
    spread = rate * (1 - rate) / number + square / (4 * number * number)
    reach = _Z * sqrt(spread) / (1 + square / number)
    # Exact at the ends, where rounding could leave a tiny rest.
    low = 0.0 if not tally.hits else max(0.0, middle - reach)
    return Range(low, 1.0 if tally.hits == number else min(1.0, middle + reach))


def standard_errors(views: int, alpha: float) -> float:
    """Return the half-width of an interval in standard errors after `views`, for repeated looks.

    sqrt(2 (t r² + 1) / (t r²) * log(sqrt(t r² + 1) / alpha)): equation 6 of the paper in standard
    errors, where r² = (-2 log alpha + log(1 - 2 log alpha)) / t* makes it narrowest at about t*
    views (its appendix B.2). A single look would take 1.96.
    """
    own = views * (-2 * log(alpha) + log(1 - 2 * log(alpha))) / NARROWEST_AT
    return sqrt(2 * (own + 1) / own * log(sqrt(own + 1) / alpha))


def difference(base: Tally, other: Tally, alpha: float = ALPHA) -> Range:
    """Return the interval of the rate of `other` minus the rate of `base`, for repeated looks at level
    1 - `alpha`.

    The standard error uses one more hit and one more miss for each arm (after Agresti and Caffo,
    The American Statistician 54, 2000), because otherwise a rate of zero in few views would be
    certain. Both arms must have views.
    """
    error = sqrt(_variance(base) + _variance(other))
    reach = standard_errors(base.views + other.views, alpha) * error
    middle = other.rate - base.rate
    return Range(max(-1.0, middle - reach), min(1.0, middle + reach))


def _variance(tally: Tally) -> float:
    rate = (tally.hits + 1) / (tally.views + 2)
    return rate * (1 - rate) / tally.views


def evidence_of_odd_split(views: Sequence[int], weights: Sequence[float]) -> float:
    """Return how much likelier the split is with unknown weights than with these.

    If visitors are assigned with these weights, it reaches x in at most one of x tests, for
    repeated looks (the sequential multinomial test: Lindon and Malek, "Anytime-valid inference for
    multinomial count data", 2022, arXiv 2011.03567). Arms without weight are ignored. Returns 1
    without data.
    """
    pairs = [(seen, weight) for seen, weight in zip(views, weights, strict=True) if weight > 0]
    seen_all, weight_all = sum(seen for seen, _ in pairs), sum(weight for _, weight in pairs)
    if len(pairs) < 2 or not seen_all:
        return 1.0
    # In logarithms, because the factors exceed the range of floats.
    found = lgamma(_SPLIT_PRIOR) - lgamma(_SPLIT_PRIOR + seen_all)
    for seen, weight in pairs:
        share = weight / weight_all
        prior = _SPLIT_PRIOR * share
        found += lgamma(prior + seen) - lgamma(prior) - seen * log(share)
    return exp(min(found, _MAX_EXPONENT))


def views_needed(
    rate: float, shares: tuple[float, float], effect: float, alpha: float
) -> int | None:
    """Return the views two arms need together to detect a difference of `effect` with a power of 80 %;
    None: never.

    A simple estimate: `rate` is the rate of both arms, `shares` the parts of these views for each
    arm.
    """
    if effect <= 0 or not 0 < rate < 1 or min(shares) <= 0:
        return None
    spread = rate * (1 - rate) * (1 / shares[0] + 1 / shares[1])
    # Binary search for the smallest sufficient number.
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
