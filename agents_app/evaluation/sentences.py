"""Sentences about the figures of an evaluation."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from agents_app.evaluation.report import PartFigures
from agents_app.evaluation.statistics import MIN_DECISIONS, MIN_RUNS
from analytics.experiments.confidence import Range
from analytics.experiments.sentences import points


def verdict_sentence(part: PartFigures) -> str:
    """Return the verdict on the agreement, with its interval, so that “no difference” is not read as “equal”."""
    found = part.agreement_difference
    if part.verdict == "too_few" or found is None:
        return _(
            "Too few to tell (decisions: %(decisions)s, runs: %(runs)s). A verdict needs at least "
            "%(min_decisions)s decisions in %(min_runs)s runs."
        ) % {
            "decisions": max(part.champion.decisions, part.challenger.decisions),
            "runs": part.runs,
            "min_decisions": MIN_DECISIONS,
            "min_runs": MIN_RUNS,
        }
    words = {"range": points(found)}
    if part.verdict == "better":
        return _("The challenger agrees more often with people, by %(range)s.") % words
    if part.verdict == "worse":
        return _("The challenger agrees less often with people, by %(range)s.") % words
    return _("No difference found. The true difference may be %(range)s.") % words


def interval_text(found: Range | None, decimals: int) -> str:
    """Return an interval of differences as text, or that there are too few to tell."""
    if found is None:
        return _("Too few to tell")
    # Rounded first, so that zero has no sign.
    rounded = {"low": round(found.low, decimals), "high": round(found.high, decimals)}
    ends = {
        name: ("+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else "")
        + number_format(abs(value), decimals)
        for name, value in rounded.items()
    }
    return _("%(low)s to %(high)s") % ends
