"""Addresses of analytics under `/api/`."""

from __future__ import annotations

from django.urls import path

from analytics.api.track import TrackViewSet

urlpatterns = [path("public/analytics/track", TrackViewSet.as_view({"post": "track"}))]
