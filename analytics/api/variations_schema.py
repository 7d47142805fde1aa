"""The OpenAPI description of the figures of a test."""

from __future__ import annotations

from typing import Final, get_args

from rest_framework import serializers

from analytics.models import GOAL_MAX
from analytics.trials.judging import GOAL_PATTERN, Doubt
from analytics.trials.verdicts import USUAL_EFFECT, Verdict
from core.api.schema import UUID_TEXT, query, whole

VERDICTS: Final = tuple(verdict.value for verdict in Verdict)
DOUBTS: Final = get_args(Doubt)
EFFECTS: Final = range(1, 101)
_DAY: Final = {"type": "string", "description": "Like 2030-01-31; of a time, its day in UTC."}
ASKED: Final = [
    query("postId", "The original, or one of its variations.", UUID_TEXT, required=True),
    query(
        "goal",
        "What counts as success; without it the goal that was reached most.",
        {"type": "string", "maxLength": GOAL_MAX, "pattern": GOAL_PATTERN},
    ),
    query("from", "The first day; without any days, those of the last test.", _DAY),
    query("to", "The last day, in UTC.", _DAY),
    query(
        "effect",
        "The smallest difference of interest, in percent of the rate of A: for `viewsNeeded`.",
        whole(EFFECTS[0], EFFECTS[-1], USUAL_EFFECT),
    ),
]


class RangeSchema(serializers.Serializer[object]):
    """Where a rate or a difference of rates lies."""

    low = serializers.FloatField(min_value=-1, max_value=1)
    high = serializers.FloatField(min_value=-1, max_value=1)


class TrialGoalSchema(serializers.Serializer[object]):
    """A goal that visitors of the arms reached."""

    goal = serializers.CharField()
    conversions = serializers.IntegerField(min_value=0)


class TrialArmSchema(serializers.Serializer[object]):
    """The original, called A, or a variation. Counted by page views, not by people."""

    postId = serializers.UUIDField()
    variation = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    running = serializers.BooleanField()
    weight = serializers.IntegerField(
        min_value=0, max_value=100, help_text="Percent of the visitors."
    )
    views = serializers.IntegerField(min_value=0)
    clicks = serializers.IntegerField(min_value=0)
    conversions = serializers.IntegerField(min_value=0)
    rate = serializers.FloatField(
        allow_null=True, min_value=0, max_value=1, help_text="Null without a view."
    )
    interval = RangeSchema(help_text="Of the rate, 95 %, for one look (Wilson).")
    difference = RangeSchema(
        allow_null=True,
        help_text="To A: holds at every look and for all arms together, 95 %. Null for A.",
    )
    verdict = serializers.ChoiceField(
        choices=VERDICTS, allow_null=True, help_text="Beside A; null for A."
    )
    viewsNeeded = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Of the whole test, until `effect` would most likely show: a plain estimate.",
    )


class TrialWarningSchema(serializers.Serializer[object]):
    """Why the figures may mislead."""

    code = serializers.ChoiceField(choices=DOUBTS)
    message = serializers.CharField()


class TrialSchema(serializers.Serializer[object]):
    """A test of variations."""

    postId = serializers.UUIDField(help_text="The original.")
    title = serializers.CharField(allow_blank=True)
    running = serializers.BooleanField()
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    to = serializers.DateField()
    goal = serializers.CharField(allow_null=True, help_text="Null where none was reached yet.")
    goals = TrialGoalSchema(many=True)
    effect = serializers.IntegerField(min_value=EFFECTS[0], max_value=EFFECTS[-1])
    confidence = serializers.FloatField(min_value=0, max_value=1)
    arms = TrialArmSchema(many=True)
    warnings = TrialWarningSchema(many=True)

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]  # as its base has it
        return {**super().get_fields(), "from": serializers.DateField()}
