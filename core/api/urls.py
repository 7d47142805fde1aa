"""Addresses of core under `/api/`."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from core.api.counted import CountedFirst


class SchemaView(CountedFirst, SpectacularAPIView):
    """The OpenAPI document. Making it is work, so it is counted like any other anonymous call."""


urlpatterns = [path("schema/", SchemaView.as_view(), name="openapi")]
