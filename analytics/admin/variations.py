"""The page of an experiment: rates with their intervals, and verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.experiments.evaluation import GOAL_PATTERN, EvaluatedArm, Trial, evaluate_trial
from analytics.experiments.sentences import (
    doubt_sentence,
    goal_label,
    percent,
    points,
    round_estimate,
    verdict_sentence,
)
from analytics.experiments.verdicts import USUAL_EFFECT, Verdict
from analytics.models import GOAL_MAX
from content.models import Post
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import RuleViolation
from proofroom_apps.editorial.posts.extensions import PostTab
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read

_PERMISSION: Final = "posts.edit"
_EFFECTS: Final = (5, 10, 20, 50)
_LOOKS: Final = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.NO_DIFFERENCE: "same",
    Verdict.TOO_EARLY: "early",
}
_GOAL: Final = re.compile(GOAL_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class ArmRow:
    """An arm as shown on the page. `left`, `width` and `dot`: CSS positions of its interval and rate, if any."""

    arm: EvaluatedArm
    rate: str
    range: str
    difference: str
    sentence: str
    look: str
    left: str = ""
    width: str = ""
    dot: str = ""


@service_errors_as_http
def variations(request: HttpRequest, post_id: UUID) -> HttpResponseBase:
    """Show the experiment of a post, or the one a variation is part of."""
    require(request, _PERMISSION)
    problem = ""
    days = {name: request.GET[name] for name in ("from", "to") if request.GET.get(name)}
    try:
        found = _trial(request, post_id, days)
    except RuleViolation as error:
        problem = error.message
        found = _trial(request, post_id, {})
    post, layers = read(request, found.original.pk)
    # The number of further views until an arm without a verdict probably gets one.
    open_ = (Verdict.NO_DIFFERENCE, Verdict.TOO_EARLY)
    context = {
        "trial": found,
        "problem": problem,
        "has_own_days": bool(days) and not problem,
        "lines": arm_rows(found),
        "scale": [percent(end) for end in _scale(found.arms)],
        "doubts": [doubt_sentence(doubt) for doubt in found.doubts],
        "effects": _EFFECTS,
        "goals": [
            {"name": item.name, "label": goal_label(item.name), "conversions": item.conversions}
            for item in found.goals
        ],
        "goal_label": goal_label(found.goal or ""),
        "needed": round_estimate(
            max(
                (arm.judged.views_needed or 0 for arm in found.arms if arm.judged.verdict in open_),
                default=0,
            )
        ),
        "variations_url": post_url("variations", post),
    }
    return post_page(
        request,
        "admin/analytics/variations.html",
        post,
        layers,
        context,
        title=_("Experiment: %(title)s") % {"title": post.title},
        tab="test",
        status=422 if problem else 200,
    )


def _trial(request: HttpRequest, post_id: UUID, days: dict[str, str]) -> Trial:
    goal = request.GET.get("goal", "")
    effect = request.GET.get("effect", "")
    return evaluate_trial(
        post_id=post_id,
        who=actor_of(request),
        params=days,
        goal=goal if len(goal) <= GOAL_MAX and _GOAL.fullmatch(goal) else None,
        effect=next((one for one in _EFFECTS if str(one) == effect), USUAL_EFFECT),
    )


def arm_rows(trial: Trial) -> list[ArmRow]:
    low, high = _scale(trial.arms)
    room = (high - low) or 1.0
    rows = []
    for arm in trial.arms:
        judged, interval = arm.judged, arm.judged.range
        texts = {"rate": "–", "range": "", "difference": "", "sentence": "", "look": ""}
        if judged.tally.views:
            rate = judged.tally.rate
            texts |= {
                "rate": percent(rate),
                "range": f"{percent(interval.low)} – {percent(interval.high)}",
                "left": f"{(interval.low - low) / room * 100:.2f}%",
                "width": f"{(interval.high - interval.low) / room * 100:.2f}%",
                "dot": f"{(rate - low) / room * 100:.2f}%",
            }
        if judged.difference is not None:
            texts["difference"] = points(judged.difference)
        if judged.verdict is not None:
            texts |= {"look": _LOOKS[judged.verdict], "sentence": verdict_sentence(arm, trial)}
        rows.append(ArmRow(arm, **texts))
    return rows


def _scale(arms: Sequence[EvaluatedArm]) -> tuple[float, float]:
    """Return the ends of the scale, which contains all intervals."""
    ranges = [arm.judged.range for arm in arms if arm.judged.tally.views]
    return min((one.low for one in ranges), default=0.0), max(
        (one.high for one in ranges), default=1.0
    )


def variation_tabs(request: HttpRequest, post: Post) -> Iterable[PostTab]:
    if may(request, _PERMISSION):
        url = reverse("admin:analytics-variations", args=[post.pk])
        yield PostTab("test", _("Experiment results"), url)
