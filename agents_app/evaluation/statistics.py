"""Confidence intervals of paired answers. Pure computations, without the database."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from random import Random
from typing import Final, Literal

from analytics.experiments.confidence import Range

MIN_DECISIONS: Final = 20
"""Number of decisions from which a difference is judged."""
MIN_RUNS: Final = 10
Verdict = Literal["too_few", "better", "worse", "no_difference"]
_Z: Final = 1.959963984540054
_RESAMPLES: Final = 1000
_SEED: Final = 20300131
"""A fixed seed, so that the same answers always have the same interval."""


def paired_difference(*, gained: int, lost: int, number: int) -> Range | None:
    """Return the 95 % interval of the difference of two rates of the same decisions; None without any.

    `gained`: decisions in which only the challenger agrees; `lost`: only the champion. Bonett and Price,
    "Adjusted Wald confidence interval for a difference of binomial proportions based on paired data",
    Journal of Educational and Behavioral Statistics 37 (2012): one more of each, so that a few equal
    answers are no certainty.
    """
    if not number:
        return None
    more, less = (gained + 1) / (number + 2), (lost + 1) / (number + 2)
    middle = more - less
    reach = _Z * sqrt((more + less - middle * middle) / (number + 2))
    return Range(max(-1.0, middle - reach), min(1.0, middle + reach))


def mean_interval(values: Sequence[float]) -> Range | None:
    """Return the 95 % interval of the mean of one value per run, by resampling; None for fewer than two."""
    if len(values) < 2:
        return None
    # Not for secrets.
    random, count = Random(_SEED), len(values)  # noqa: S311
    means = sorted(sum(random.choices(values, k=count)) / count for _ in range(_RESAMPLES))
    return Range(means[int(_RESAMPLES * 0.025)], means[int(_RESAMPLES * 0.975) - 1])


def judge(found: Range | None, *, decisions: int, runs: int) -> Verdict:
    """Return the verdict on the challenger from the interval of the difference in agreement."""
    if found is None or decisions < MIN_DECISIONS or runs < MIN_RUNS:
        return "too_few"
    if found.low > 0:
        return "better"
    return "worse" if found.high < 0 else "no_difference"
