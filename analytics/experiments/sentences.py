"""Sentences about the results of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.experiments.confidence import Range
from analytics.experiments.evaluation import Doubt, EvaluatedArm, Trial
from analytics.experiments.verdicts import MIN_HITS, MIN_VIEWS, Verdict

_DOUBTS: Final[Mapping[Doubt, Promise]] = {
    "odd-split": gettext_lazy(
        "Views are not split according to the shares. By chance this happens in fewer than one "
        "of 100 experiments, however often you look. Views of one version may be missing, or one "
        "visitor came very often. Find the cause before you trust the results."
    ),
    "weights-changed": gettext_lazy(
        "The shares were changed during this period, which can affect the results."
    ),
    "arms-changed": gettext_lazy(
        "A variation was started or stopped while others were running. The versions were shown on "
        "different days, which can affect the results."
    ),
    "content-changed": gettext_lazy(
        "A version was edited during this period. Its results combine the text "
        "before and after the edit."
    ),
    "part-of-test": gettext_lazy(
        "This period is only part of the experiment. Use the whole experiment to "
        "decide: picking days can show differences that are not real."
    ),
    "many-goals": gettext_lazy(
        "A version has more conversions than views. Views may be missing, or a "
        "form was submitted several times from one page. Rates are capped at 100 "
        "%."
    ),
}


def doubt_sentence(doubt: Doubt) -> str:
    return str(_DOUBTS[doubt])


def verdict_sentence(arm: EvaluatedArm, trial: Trial) -> str:
    """Return the verdict on a variation with its interval, so that “no difference” is not read as “equal”."""
    found, verdict = arm.judged.difference, arm.judged.verdict
    words = {"name": arm.name, "range": points(found) if found else ""}
    if found and verdict in (Verdict.BETTER, Verdict.WORSE):
        nearer, farther = sorted((abs(found.low), abs(found.high)))
        words |= {"low": _plain(nearer), "high": _plain(farther)}
    if verdict == Verdict.BETTER:
        return _("%(name)s is better than A, by %(low)s to %(high)s points.") % words
    if verdict == Verdict.WORSE:
        return _("%(name)s is worse than A, by %(low)s to %(high)s points.") % words
    if verdict == Verdict.NO_DIFFERENCE:
        return (
            _("No difference found between %(name)s and A. The true difference may be %(range)s.")
            % words
        )
    words |= {"views": str(MIN_VIEWS), "hits": str(MIN_HITS)}
    return (
        _(
            "It is too early to judge %(name)s. Each version needs at least %(views)s views, and "
            "enough of them to expect %(hits)s conversions and the same number of views without a "
            "conversion."
        )
        % words
    )


def goal_label(name: str) -> str:
    """Return a readable name for `form:<slug>`; other goals are returned unchanged."""
    slug = name.removeprefix("form:")
    return name if slug == name else _("form submitted: %(slug)s") % {"slug": slug}


def round_estimate(number: int) -> int:
    """Return the number rounded to two significant digits, because it is an estimate."""
    return round(number, 2 - len(str(number))) if number else 0


def points(found: Range) -> str:
    """Return an interval of differences in percentage points as text."""
    ends = {}
    for name, value in (("low", found.low), ("high", found.high)):
        sign = ("+" if value > 0 else "\N{MINUS SIGN}") if round(value * 100, 2) else ""
        ends[name] = sign + _plain(abs(value))
    return _("%(low)s to %(high)s points") % ends


def percent(value: float) -> str:
    """Return a rate as localized percentage, such as 12.3 %."""
    return f"{number_format(round(value * 100, 1 if value >= 0.01 else 2))}\N{NO-BREAK SPACE}%"


def _plain(value: float) -> str:
    return str(number_format(round(value * 100, 2), 2))
