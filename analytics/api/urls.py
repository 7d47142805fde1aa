"""Addresses of analytics under `/api/`."""

from __future__ import annotations

from django.urls import path

from analytics.api.figures import HeatmapViewSet, SummaryViewSet
from analytics.api.track import TrackViewSet
from analytics.api.variations import TrialViewSet

urlpatterns = [
    path("public/analytics/track", TrackViewSet.as_view({"post": "track"})),
    path("analytics/summary", SummaryViewSet.as_view({"get": "summary"})),
    path("analytics/heatmap", HeatmapViewSet.as_view({"get": "heatmap"})),
    path("analytics/heatmap/modules", HeatmapViewSet.as_view({"get": "modules"})),
    path("analytics/variations", TrialViewSet.as_view({"get": "retrieve"})),
]
