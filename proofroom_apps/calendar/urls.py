"""The address of a calendar feed."""

from __future__ import annotations

from django.urls import path

from proofroom_apps.calendar.views import feed

urlpatterns = [path("calendar/<str:secret>.ics", feed, name="calendar-feed")]
