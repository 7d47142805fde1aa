"""Addresses of core under `/api/`."""

from __future__ import annotations

from django.urls import path

from core.api.document import ReferenceView, SchemaView

urlpatterns = [
    path("schema/", SchemaView.as_view(), name="openapi"),
    path("docs/", ReferenceView.as_view(), name="api-reference"),
]
