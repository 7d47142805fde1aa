"""Addresses of reviewer links under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

ReviewerLinkViewSet = LazyViewSet("proofroom_apps.reviewers.api.reviewer_links.ReviewerLinkViewSet")

links = "posts/<str:post_id>/reviewer-links"
urlpatterns = [
    path(links, ReviewerLinkViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{links}/<str:link_id>", ReviewerLinkViewSet.as_view({"delete": "destroy"})),
]
