"""Addresses of notifications under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

NotificationViewSet = LazyViewSet("proofroom.notifications.api.notifications.NotificationViewSet")

urlpatterns = [
    path("notifications", NotificationViewSet.as_view({"get": "list"})),
    path("notifications/read", NotificationViewSet.as_view({"post": "read"})),
]
