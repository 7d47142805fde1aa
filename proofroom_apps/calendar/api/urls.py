"""The address of the calendar under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

CalendarViewSet = LazyViewSet("proofroom_apps.calendar.api.calendar.CalendarViewSet")

CalendarFeedViewSet = LazyViewSet("proofroom_apps.calendar.api.calendar.CalendarFeedViewSet")

urlpatterns = [
    path("calendar", CalendarViewSet.as_view({"get": "retrieve"})),
    path("calendar/feed", CalendarFeedViewSet.as_view({"get": "retrieve", "post": "renew"})),
]
