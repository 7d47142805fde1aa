"""`/api/analytics/summary` and `/api/analytics/heatmap`: what visitors did, in figures."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import presenters
from analytics.api import figures_schema as schema
from analytics.api.ids import Id
from analytics.figures import reports
from analytics.figures.periods import read_period
from analytics.figures.shapes import HeatAsked
from analytics.figures.stages import Side, versions_beside
from content.models import Post
from content.revision_queries import find_revision
from core.api.body import Body
from core.api.permissions import Declared
from core.api.query import read_query
from core.api.views import ApiViewSet
from core.errors import NotFound, invalid


class SummaryAsked(Body):
    post_id: Id | None = None


class HeatmapAsked(Body):
    post_id: Id
    event_type: Literal["view", "click"] = "click"
    viewport: Literal["all", "mobile", "tablet", "desktop"] = "all"
    revision_id: Id | None = None
    side: Side | None = None


class SummaryViewSet(ApiViewSet):
    """Views and clicks, added up."""

    permissions: ClassVar[dict[str, Declared]] = {"summary": "analytics.view"}

    @extend_schema(parameters=schema.SUMMARY, responses=schema.SummarySchema)
    def summary(self, request: Request) -> Response:
        """Totals, over time, by post, referrer, language and device, beside the period before.

        Days are those of UTC. What came in the last moments may be missing on a busy site: `meta.countedAt`.
        """
        asked = read_query(request, SummaryAsked)
        period = read_period(request.query_params)
        if asked.post_id is not None:
            _post(asked.post_id)
        return Response(presenters.summary(reports.summary(period, asked.post_id)))


class HeatmapViewSet(ApiViewSet):
    """Where pages are clicked."""

    permissions: ClassVar[dict[str, Declared]] = {
        "heatmap": "analytics.view",
        "modules": "analytics.view",
    }

    @extend_schema(parameters=schema.HEATMAP, responses=schema.HeatmapSchema)
    def heatmap(self, request: Request) -> Response:
        """The spots of a post's page, in cells of 10 pixels of a page 1,000 pixels wide."""
        return Response(presenters.heat(reports.heatmap(_asked(request))))

    @extend_schema(parameters=schema.HEATMAP, responses=schema.ModuleHeatmapSchema)
    def modules(self, request: Request) -> Response:
        """The modules of a post by how often they were hit, with the spots inside them."""
        return Response(presenters.modules(reports.module_clicks(_asked(request))))


def _asked(request: Request) -> HeatAsked:
    asked = read_query(request, HeatmapAsked)
    period = read_period(request.query_params)
    if asked.side is not None and asked.revision_id is None:
        raise invalid("side", "side needs revisionId: the revision that it is a side of.")
    post = _post(asked.post_id)
    versions: tuple[int | None, int | None] = (None, None)
    if asked.revision_id is not None:
        versions = versions_beside(find_revision(post, asked.revision_id), asked.side or "after")
    device = None if asked.viewport == "all" else asked.viewport
    return HeatAsked(post.pk, period, asked.event_type, device, versions)


def _post(post_id: UUID) -> Post:
    """A post or a variation that is not in the trash."""
    found = Post.objects.kept().filter(pk=post_id).first()
    if found is None:
        raise NotFound(f"There is no post {post_id}.")
    return found
