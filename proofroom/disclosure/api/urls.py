"""Addresses of the disclosure of AI work under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

DisclosureViewSet = LazyViewSet("proofroom.disclosure.api.disclosure.DisclosureViewSet")

urlpatterns = [
    path("settings/disclosure", DisclosureViewSet.as_view({"get": "retrieve", "put": "update"})),
]
