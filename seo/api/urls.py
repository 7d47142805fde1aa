"""Addresses of redirects under `/api/`."""

from __future__ import annotations

from django.urls import path

from seo.api.redirect_files import RedirectFileViewSet
from seo.api.redirects import RedirectViewSet
from seo.api.resolve import ResolveViewSet

urlpatterns = [
    path("redirects", RedirectViewSet.as_view({"get": "list", "post": "create"})),
    path("redirects/export", RedirectFileViewSet.as_view({"get": "export"})),
    path("redirects/import", RedirectFileViewSet.as_view({"post": "import_"})),
    path(
        "redirects/<str:redirect_id>",
        RedirectViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("public/resolve", ResolveViewSet.as_view({"get": "resolve"})),
]
