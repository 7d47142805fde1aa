"""The address of the calendar under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

CalendarViewSet = LazyViewSet("proofroom_apps.calendar.api.calendar.CalendarViewSet")

urlpatterns = [path("calendar", CalendarViewSet.as_view({"get": "retrieve"}))]
