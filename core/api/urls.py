"""Addresses of core under `/api/`."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

urlpatterns = [path("schema/", SpectacularAPIView.as_view(), name="openapi")]
