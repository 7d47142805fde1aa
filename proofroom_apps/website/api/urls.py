"""Addresses of the site's facts under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PublicSiteViewSet = LazyViewSet("proofroom_apps.website.api.site.PublicSiteViewSet")

urlpatterns = [path("public/site", PublicSiteViewSet.as_view({"get": "retrieve"}))]
