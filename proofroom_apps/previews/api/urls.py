"""Addresses of preview links under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PreviewLinkViewSet = LazyViewSet("proofroom_apps.previews.api.preview_links.PreviewLinkViewSet")

links = "posts/<str:post_id>/preview-links"
urlpatterns = [
    path(links, PreviewLinkViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{links}/<str:link_id>", PreviewLinkViewSet.as_view({"delete": "destroy"})),
]
