"""`/api/analytics/summary` and `/api/analytics/heatmap`: views and clicks in figures.

Heatmaps have thousands of spots, so they are answered as dicts instead of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from analytics.models import EventType
from analytics.periods import read_period
from analytics.rollups import heatmaps
from analytics.rollups.aggregate import catch_up
from analytics.rollups.heatmaps import Side, versions_beside
from analytics.rollups.summaries import summarize
from content.models import Post
from content.store.revision_queries import find_revision
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.api.answer import Answer, described
from proofroom.core.api.body import Body, Id
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import read_query
from proofroom.core.api.schema import UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotFound, invalid

DAY: Final = {"type": "string", "description": "Like 2030-01-31; of a time, its day in UTC."}
PERIOD: Final = [
    query_parameter("from", "The first day; without it, 30 days up to the last.", DAY),
    query_parameter("to", "The last day, in UTC; without it today.", DAY),
]
SUMMARY_PARAMETERS: Final = [
    *PERIOD,
    query_parameter("postId", "Of one post or variation only.", UUID_TEXT),
]
HEATMAP_PARAMETERS: Final = [
    query_parameter("postId", "A post or a variation.", UUID_TEXT, required=True),
    query_parameter("eventType", "Clicks, unless it says view.", choice_schema(*EventType.values)),
    query_parameter(
        "viewport",
        "Mobile is below 768 pixels, tablet below 1,100.",
        choice_schema("all", "mobile", "tablet", "desktop"),
    ),
    *PERIOD,
    query_parameter("revisionId", "Only what was hit before or after this revision.", UUID_TEXT),
    query_parameter(
        "side",
        "Up to the revision before or after it; without it after.",
        choice_schema("before", "after"),
    ),
]

Day = date  # a field of that name hides the class


class TotalsAnswer(Answer):
    """Views, clicks and reached goals."""

    views: int = Field(ge=0)
    clicks: int = Field(ge=0)
    conversions: int = Field(ge=0)


class PeriodBeforeAnswer(Answer):
    """The previous period of the same length."""

    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    totals: TotalsAnswer


class MomentAnswer(TotalsAnswer):
    """A day, or the month starting at `date`."""

    date: Day


class TopPostAnswer(TotalsAnswer):
    """An existing post, including its variations."""

    post_id: UUID
    title: str


class ReferrerAnswer(Answer):
    """Views by referring host. An empty host is none, `~other` combines rare ones."""

    host: str
    views: int = Field(ge=0)


class LocaleShareAnswer(Answer):
    """By the language of the page; empty without one."""

    locale: str = Field(validation_alias="value")
    views: int = Field(ge=0)
    clicks: int = Field(ge=0)


class DeviceShareAnswer(Answer):
    """By the width of the viewport."""

    device: Literal["mobile", "tablet", "desktop", "unknown"] = Field(validation_alias="value")
    views: int = Field(ge=0)
    clicks: int = Field(ge=0)


class SummaryMetaAnswer(Answer):
    """Notes on a summary: periods of more than 400 days are shown by month."""

    grain: Literal["day", "month"]
    counted_at: datetime | None = Field(description="The time up to which all events are counted.")


class SummaryAnswer(Answer):
    """The figures of the site, or of one post."""

    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    totals: TotalsAnswer
    previous: PeriodBeforeAnswer
    over_time: list[MomentAnswer]
    top_posts: list[TopPostAnswer] = Field(
        description="At most ten; empty in the summary of one post."
    )
    referrers: list[ReferrerAnswer] = Field(description="At most twenty.")
    locales: list[LocaleShareAnswer]
    devices: list[DeviceShareAnswer]
    meta: SummaryMetaAnswer


class SpotAnswer(TypedDict):
    """`x`: part of the width; `y`: pixels of a page 1,000 wide, or part of a module's height."""

    x: Annotated[float, Field(ge=0, le=1)]
    y: Annotated[float, Field(ge=0)]
    count: Annotated[int, Field(ge=1)]


class HeatMetaAnswer(TypedDict):
    """`grid`: side of a cell in pixels; `max`: hits of the most hit one; `total`: all hits."""

    grid: Annotated[int, Field(ge=1)]
    max: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0)]


class HeatmapAnswer(TypedDict):
    """At most the 5,000 most hit spots, each the mean position of a cell."""

    data: list[SpotAnswer]
    meta: HeatMetaAnswer


class ModuleHitsAnswer(TypedDict):
    """A module; `count` includes hits without a position."""

    postModuleId: Annotated[str, Field(json_schema_extra={"format": "uuid"})]
    label: str
    type: Annotated[str | None, Field(description="Null if the module was removed.")]
    isGone: bool
    count: Annotated[int, Field(ge=0)]
    spots: list[SpotAnswer]


class ModuleHeatMetaAnswer(TypedDict):
    """Figures of the listed modules."""

    max: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0)]


class ModuleHeatmapAnswer(TypedDict):
    """Modules of a page by number of hits."""

    data: list[ModuleHitsAnswer]
    meta: ModuleHeatMetaAnswer


class SummaryQuery(Body):
    post_id: Id | None = None


class HeatmapQuery(Body):
    post_id: Id
    event_type: Literal["view", "click"] = "click"
    viewport: Literal["all", "mobile", "tablet", "desktop"] = "all"
    revision_id: Id | None = None
    side: Side | None = None


class SummaryViewSet(ApiViewSet):
    """Summaries of views and clicks."""

    permissions: ClassVar[dict[str, Declared]] = {"summary": "analytics.view"}

    @extend_schema(parameters=SUMMARY_PARAMETERS, responses=SummaryAnswer)
    def summary(self, request: Request) -> Response:
        """Totals, over time, by post, referrer, language and device, with the previous period.

        Days are in UTC. On a busy site the latest events may be missing: see `meta.countedAt`.
        """
        query = read_query(request, SummaryQuery)
        period = read_period(request.query_params)
        if query.post_id is not None:
            require_visible_post(query.post_id, self.actor)
        found = summarize(period, query.post_id, self.actor)
        before = period.before()
        previous = {"first": before.first, "last": before.last, "totals": found.previous}
        grain = "month" if found.is_monthly else "day"
        answer = SummaryAnswer.model_validate(
            {
                **{part.name: getattr(found, part.name) for part in fields(found)},
                "first": period.first,
                "last": period.last,
                "previous": previous,
                "meta": {"grain": grain, "countedAt": found.counted_at},
            }
        )
        return Response(answer)


class HeatmapViewSet(ApiViewSet):
    """Heatmaps of clicks."""

    permissions: ClassVar[dict[str, Declared]] = {
        "heatmap": "analytics.view",
        "modules": "analytics.view",
    }

    @extend_schema(parameters=HEATMAP_PARAMETERS, responses=described(HeatmapAnswer))
    def heatmap(self, request: Request) -> Response:
        """The spots of a post's page, in cells of 10 pixels of a page 1,000 pixels wide."""
        spec = read_heatmap_query(request, self.actor)
        catch_up()
        found = heatmaps.page_heatmap(spec)
        answer: HeatmapAnswer = {
            "data": answer_spots(found.spots),
            "meta": {"grid": found.grid, "max": found.max, "total": found.total},
        }
        return Response(answer)

    @extend_schema(parameters=HEATMAP_PARAMETERS, responses=described(ModuleHeatmapAnswer))
    def modules(self, request: Request) -> Response:
        """The modules of a post by number of hits, with the spots inside them."""
        spec = read_heatmap_query(request, self.actor)
        catch_up()
        found = heatmaps.module_clicks(spec)
        answer: ModuleHeatmapAnswer = {
            "data": [
                {
                    "postModuleId": one.post_module_id,
                    "label": one.label,
                    "type": one.type or None,
                    "isGone": one.is_gone,
                    "count": one.clicks,
                    "spots": answer_spots(one.spots),
                }
                for one in found
            ],
            "meta": {
                "max": max((one.clicks for one in found), default=0),
                "total": sum(one.clicks for one in found),
            },
        }
        return Response(answer)


def answer_spots(spots: Sequence[heatmaps.Spot]) -> list[SpotAnswer]:
    return [{"x": one.x, "y": one.y, "count": one.count} for one in spots]


def read_heatmap_query(request: Request, actor: Actor) -> heatmaps.HeatmapSpec:
    """Read the filter of a heatmap. Raises `NotFound` and `RuleViolation`."""
    query = read_query(request, HeatmapQuery)
    period = read_period(request.query_params)
    if query.side is not None and query.revision_id is None:
        raise invalid("side", "side requires revisionId, the revision to compare around.")
    post = require_visible_post(query.post_id, actor)
    versions: heatmaps.Versions = (None, None)
    if query.revision_id is not None:
        versions = versions_beside(find_revision(post, query.revision_id), query.side or "after")
    device = None if query.viewport == "all" else query.viewport
    return heatmaps.HeatmapSpec(post.pk, period, query.event_type, device, versions)


def require_visible_post(post_id: UUID, actor: Actor) -> Post:
    """Return a post or variation the actor may see, unless it is in the trash. Raises `NotFound`."""
    found = visible_to(Post.objects.kept().filter(pk=post_id), actor).first()
    if found is None:
        raise NotFound(f"There is no post {post_id}.")
    return found
