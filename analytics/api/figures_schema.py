"""The OpenAPI description of summaries and heatmaps."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from analytics.models import Device, EventType, Grain
from core.api.schema import UUID_TEXT, choice, query

VIEWPORTS: Final = ("all", "mobile", "tablet", "desktop")
SIDES: Final = ("before", "after")
_DAY: Final = {"type": "string", "description": "Like 2030-01-31; of a time, its day in UTC."}
PERIOD: Final = [
    query("from", "The first day; without it, 30 days up to the last.", _DAY),
    query("to", "The last day, in UTC; without it today.", _DAY),
]
SUMMARY: Final = [*PERIOD, query("postId", "Of one post or variation only.", UUID_TEXT)]
HEATMAP: Final = [
    query("postId", "A post or a variation.", UUID_TEXT, required=True),
    query("eventType", "Clicks, unless it says view.", choice(*EventType.values)),
    query("viewport", "Mobile is below 768 pixels, tablet below 1,100.", choice(*VIEWPORTS)),
    *PERIOD,
    query("revisionId", "Only what was hit before or after this revision.", UUID_TEXT),
    query("side", "Up to the revision before or after it; without it after.", choice(*SIDES)),
]


class TotalsSchema(serializers.Serializer[object]):
    """Views, clicks, and goals that were reached."""

    views = serializers.IntegerField(min_value=0)
    clicks = serializers.IntegerField(min_value=0)
    conversions = serializers.IntegerField(min_value=0)


class _DaysSchema(serializers.Serializer[object]):
    to = serializers.DateField()

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]  # as its base has it
        return {**super().get_fields(), "from": serializers.DateField()}


class PeriodBeforeSchema(_DaysSchema):
    """As many days, just before."""

    totals = TotalsSchema()


class MomentSchema(TotalsSchema):
    """A day, or the month that `date` begins."""

    date = serializers.DateField()


class TopPostSchema(TotalsSchema):
    """A post that is there; variations are counted with their original."""

    postId = serializers.UUIDField()
    title = serializers.CharField(allow_blank=True)


class ReferrerSchema(serializers.Serializer[object]):
    """Where views came from. An empty host is none, `~other` stands for many rare ones."""

    host = serializers.CharField(allow_blank=True)
    views = serializers.IntegerField(min_value=0)


class LocaleShareSchema(serializers.Serializer[object]):
    """By the language of the page; empty on pages of none."""

    locale = serializers.CharField(allow_blank=True)
    views = serializers.IntegerField(min_value=0)
    clicks = serializers.IntegerField(min_value=0)


class DeviceShareSchema(serializers.Serializer[object]):
    """By the width of the viewport."""

    device = serializers.ChoiceField(choices=Device.values)
    views = serializers.IntegerField(min_value=0)
    clicks = serializers.IntegerField(min_value=0)


class SummaryMetaSchema(serializers.Serializer[object]):
    """How to read it: periods of more than 400 days are shown by months."""

    grain = serializers.ChoiceField(choices=Grain.values)
    countedAt = serializers.DateTimeField(
        allow_null=True, help_text="Up to when everything is counted."
    )


class SummarySchema(_DaysSchema):
    """What happened on the site, or on one post."""

    totals = TotalsSchema()
    previous = PeriodBeforeSchema()
    overTime = MomentSchema(many=True)
    topPosts = TopPostSchema(many=True, help_text="Ten at most; none in the summary of one post.")
    referrers = ReferrerSchema(many=True, help_text="Twenty at most.")
    locales = LocaleShareSchema(many=True)
    devices = DeviceShareSchema(many=True)
    meta = SummaryMetaSchema()


class SpotSchema(serializers.Serializer[object]):
    """`x` is a part of the width; `y` pixels of a page 1,000 wide or, in a module, a part of its height."""

    x = serializers.FloatField(min_value=0, max_value=1)
    y = serializers.FloatField(min_value=0)
    count = serializers.IntegerField(min_value=1)


class HeatMetaSchema(serializers.Serializer[object]):
    """`grid` is the side of a cell in pixels of that page, `max` the most hits of one, `total` those of all."""

    grid = serializers.IntegerField(min_value=1)
    max = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)


class HeatmapSchema(serializers.Serializer[object]):
    """The 5,000 spots that were hit most at most, each the mean place of a cell."""

    data = SpotSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = HeatMetaSchema()


class ModuleHitsSchema(serializers.Serializer[object]):
    """A module; `count` holds hits whose place is not known too."""

    postModuleId = serializers.UUIDField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    type = serializers.CharField(allow_null=True, help_text="Null where the module is gone.")
    isGone = serializers.BooleanField()
    count = serializers.IntegerField(min_value=0)
    spots = SpotSchema(many=True)


class ModuleHeatMetaSchema(serializers.Serializer[object]):
    """Of the modules in the list."""

    max = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)


class ModuleHeatmapSchema(serializers.Serializer[object]):
    """Modules of a page by how often they were hit."""

    data = ModuleHitsSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = ModuleHeatMetaSchema()
