"""Addresses of feedback under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

FeedbackViewSet = LazyViewSet("proofroom_apps.feedback.api.feedback.FeedbackViewSet")

urlpatterns = [
    path("feedbacks", FeedbackViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "feedbacks/<str:feedback_id>",
        FeedbackViewSet.as_view({"patch": "update", "delete": "destroy"}),
    ),
]
