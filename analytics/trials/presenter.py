"""A test of variations on the wire."""

from __future__ import annotations

from typing import Final

from analytics.trials.confidence import ALPHA, Range
from analytics.trials.judging import Arm, Trial
from analytics.trials.words import doubt_sentence
from content.store import iso
from core.json import JsonObject

_DIGITS: Final = 6


def trial(found: Trial) -> JsonObject:
    course = found.course
    return {
        "postId": str(found.original.pk),
        "title": found.original.title,
        "running": found.is_running,
        "startedAt": iso(course.began) if course.began else None,
        "endedAt": iso(course.ended) if course.ended else None,
        "from": found.period.first.isoformat(),
        "to": found.period.last.isoformat(),
        "goal": found.goal,
        "goals": [{"goal": item.name, "conversions": item.conversions} for item in found.goals],
        "effect": found.effect,
        "confidence": 1 - ALPHA,
        "arms": [_arm(arm) for arm in found.arms],
        "warnings": [{"code": doubt, "message": doubt_sentence(doubt)} for doubt in found.doubts],
    }


def _arm(arm: Arm) -> JsonObject:
    judged = arm.judged
    return {
        "postId": str(arm.post_id),
        "variation": arm.name,
        "title": arm.title,
        "running": arm.is_running,
        "weight": arm.weight,
        "views": judged.tally.views,
        "clicks": arm.clicks,
        "conversions": arm.conversions,
        "rate": round(judged.tally.rate, _DIGITS) if judged.tally.views else None,
        "interval": _range(judged.range),
        "difference": _range(judged.difference),
        "verdict": judged.verdict.value if judged.verdict else None,
        "viewsNeeded": judged.views_needed,
    }


def _range(found: Range | None) -> JsonObject | None:
    if found is None:
        return None
    return {"low": round(found.low, _DIGITS), "high": round(found.high, _DIGITS)}
