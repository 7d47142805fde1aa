"""Intervals and verdicts: values from the literature, and the error rate of daily looks."""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from analytics.experiments.confidence import (
    Tally,
    difference,
    evidence_of_odd_split,
    standard_errors,
    views_needed,
    wilson,
)
from analytics.experiments.verdicts import Judged, Verdict, is_enough, is_odd_split, judge


@pytest.mark.parametrize(
    ("hits", "views", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_range_of_a_rate_is_wilsons(hits: int, views: int, low: float, high: float) -> None:
    found = wilson(Tally(views, hits))

    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_a_split_is_judged_by_its_weights() -> None:
    assert evidence_of_odd_split([5050, 4950], [50, 50]) < 1
    same = evidence_of_odd_split([5050, 4950], [50, 50])
    assert evidence_of_odd_split([5050, 4950, 7], [50, 50, 0]) == same
    assert evidence_of_odd_split([0, 0], [50, 50]) == evidence_of_odd_split([9], [100]) == 1.0
    assert evidence_of_odd_split([10**9, 0], [50, 50]) > 1e100
    # By hand: one view of an arm that should have a tenth is as likely as the weights say.
    assert evidence_of_odd_split([0, 1], [90, 10]) == pytest.approx(1.0)
    assert not is_odd_split([Tally(9000, 0), Tally(1050, 0)], [90, 10])
    assert is_odd_split([Tally(9000, 0), Tally(1150, 0)], [90, 10])


def test_a_fair_split_is_flagged_in_under_one_percent_however_often_it_is_checked() -> None:
    random = Random(7)  # noqa: S311
    tests, looks, a_look = 1000, 200, 50
    flagged = 0
    for _ in range(tests):
        first = 0
        for look in range(1, looks + 1):
            first += random.getrandbits(a_look).bit_count()
            if is_odd_split([Tally(first, 0), Tally(look * a_look - first, 0)], [50, 50]):
                flagged += 1
                break
    assert flagged <= 10


def test_a_range_for_every_look_is_wider_than_one_for_a_single_look() -> None:
    # By hand: r² t* = 5.9915 + 1.9449 = 7.9364; sqrt(2 * 8.9364 / 7.9364 * log(sqrt(8.9364) / 0.05)).
    assert standard_errors(10_000, 0.05) == pytest.approx(3.0352, abs=0.0001)
    assert standard_errors(10_000, 0.025) > standard_errors(10_000, 0.05) > 1.96
    assert standard_errors(500, 0.05) > standard_errors(10_000, 0.05)


def test_a_difference_lies_about_what_was_found() -> None:
    found = difference(Tally(5000, 500), Tally(5000, 600))

    error = sqrt(501 / 5002 * 4501 / 5002 / 5000 + 601 / 5002 * 4401 / 5002 / 5000)
    assert (found.low + found.high) / 2 == pytest.approx(0.02)
    assert (found.high - found.low) / 2 == pytest.approx(standard_errors(10_000, 0.05) * error)
    assert difference(Tally(1, 1), Tally(1, 0)).low == -1.0


def verdicts(*tallies: tuple[int, int]) -> list[str | None]:
    weights = [100 // len(tallies)] * len(tallies)
    return [arm.verdict for arm in judge([Tally(*tally) for tally in tallies], weights)]


def test_verdicts_say_better_worse_no_difference_or_too_early() -> None:
    assert verdicts((5000, 500), (5000, 650)) == [None, Verdict.BETTER]
    assert verdicts((5000, 650), (5000, 500)) == [None, Verdict.WORSE]
    assert verdicts((5000, 500), (5000, 520)) == [None, Verdict.NO_DIFFERENCE]
    assert verdicts((99, 40), (5000, 520)) == [None, Verdict.TOO_EARLY]
    assert verdicts((0, 0), (0, 0)) == [None, Verdict.TOO_EARLY]
    assert verdicts((5000, 500)) == [None]
    # A result that suffices for one arm does not among four, because each gets a part of the error.
    assert verdicts((5000, 500), (5000, 596)) == [None, Verdict.BETTER]
    assert verdicts((5000, 500), *[(5000, 596)] * 4)[1:] == [Verdict.NO_DIFFERENCE] * 4


def test_too_few_is_judged_by_what_both_would_have() -> None:
    assert is_enough(Tally(1000, 100), Tally(200, 0))
    assert not is_enough(Tally(1000, 30), Tally(200, 9))
    assert not is_enough(Tally(200, 200), Tally(200, 200))


def test_the_views_still_needed_are_a_plain_estimate() -> None:
    needed = views_needed(0.05, (0.5, 0.5), 0.01, 0.05)
    assert needed == 29_416
    error = sqrt(0.05 * 0.95 * 4 / needed)
    assert (standard_errors(needed, 0.05) + 0.84) * error == pytest.approx(0.01, abs=0.00001)
    assert views_needed(0.05, (0.9, 0.1), 0.01, 0.05) > needed
    assert views_needed(0.0, (0.5, 0.5), 0.01, 0.05) is None
    assert views_needed(1.0, (0.5, 0.5), 0.01, 0.05) is None
    assert views_needed(0.5, (0.5, 0.5), 1e-12, 0.05) is None

    def other(*weights: int) -> Judged:
        return judge([Tally(1000, 50), Tally(1000, 50)], weights)[1]

    assert other(50, 50).views_needed == needed - 2000
    assert other(25, 25).views_needed == 2 * (needed - 2000)
    assert other(0, 0).views_needed is None


def test_who_looks_after_every_500_views_is_seldom_misled() -> None:
    """Two equal arms: 100 tests of 20,000 views with 40 looks each, and a fixed seed."""
    chance = Random(20_261_122)  # noqa: S311  # the same every time
    misled = misled_by_z = 0
    for _ in range(100):
        ours, by_z = looks_at_equals(chance)
        misled, misled_by_z = misled + ours, misled_by_z + by_z

    assert misled <= 5
    assert misled_by_z >= 20  # looking at 1.96 standard errors, again and again


def looks_at_equals(chance: Random, rate: float = 0.05) -> tuple[bool, bool]:
    """Return whether the verdict, and whether a plain z-test, ever called one of two equal arms better."""
    ours = by_z = False
    base, other = Tally(0, 0), Tally(0, 0)
    for _ in range(40):
        views = chance.getrandbits(500).bit_count()
        base, other = (
            Tally(arm.views + seen, arm.hits + sum(chance.random() < rate for _ in range(seen)))
            for arm, seen in ((base, views), (other, 500 - views))
        )
        verdict = judge([base, other], [50, 50])[1].verdict
        ours = ours or verdict in (Verdict.BETTER, Verdict.WORSE)
        pooled = (base.hits + other.hits) / (base.views + other.views)
        error = sqrt(pooled * (1 - pooled) * (1 / base.views + 1 / other.views))
        by_z = by_z or abs(other.rate - base.rate) > 1.96 * error
    return ours, by_z


def test_who_looks_at_what_is_better_sees_it() -> None:
    chance = Random(20_261_122)  # noqa: S311  # the same every time
    seen = 0
    for _ in range(20):
        arms = [
            Tally(20_000, sum(chance.random() < rate for _ in range(20_000)))
            for rate in (0.05, 0.06)
        ]
        seen += judge(arms, [50, 50])[1].verdict == Verdict.BETTER

    assert seen >= 16
