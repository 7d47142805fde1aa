"""Addresses of core under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.activity import ActivityViewSet
from proofroom.core.api.schema_views import ReferenceView, SchemaView

urlpatterns = [
    path("activity", ActivityViewSet.as_view({"get": "list"})),
    path("activity/export", ActivityViewSet.as_view({"get": "export"})),
    path("activity/<str:entry_id>", ActivityViewSet.as_view({"get": "retrieve"})),
    path("schema/", SchemaView.as_view(), name="openapi"),
    path("docs/", ReferenceView.as_view(), name="api-reference"),
]
