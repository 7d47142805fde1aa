"""Addresses of editorial steps under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

StepViewSet = LazyViewSet("proofroom_apps.steps.api.steps.StepViewSet")

urlpatterns = [
    path("posts/<str:post_id>/steps", StepViewSet.as_view({"get": "retrieve", "post": "create"})),
]
