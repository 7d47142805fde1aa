"""URLs of analytics under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

HeatmapViewSet = LazyViewSet("analytics.api.figures.HeatmapViewSet")
SummaryViewSet = LazyViewSet("analytics.api.figures.SummaryViewSet")
TrackViewSet = LazyViewSet("analytics.api.track.TrackViewSet")
TrialViewSet = LazyViewSet("analytics.api.variations.TrialViewSet")

urlpatterns = [
    path("public/analytics/track", TrackViewSet.as_view({"post": "track"})),
    path("analytics/summary", SummaryViewSet.as_view({"get": "summary"})),
    path("analytics/heatmap", HeatmapViewSet.as_view({"get": "heatmap"})),
    path("analytics/heatmap/modules", HeatmapViewSet.as_view({"get": "modules"})),
    path("analytics/variations", TrialViewSet.as_view({"get": "retrieve"})),
]
