"""Addresses of editorial briefs under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

BriefViewSet = LazyViewSet("proofroom.briefs.api.briefs.BriefViewSet")
BriefVersionViewSet = LazyViewSet("proofroom.briefs.api.briefs.BriefVersionViewSet")

urlpatterns = [
    path("briefs", BriefViewSet.as_view({"get": "list", "post": "create"})),
    path("briefs/effective", BriefViewSet.as_view({"get": "effective"})),
    path(
        "briefs/<str:brief_id>",
        BriefViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("briefs/<str:brief_id>/versions", BriefVersionViewSet.as_view({"get": "list"})),
    path(
        "briefs/<str:brief_id>/versions/<str:version>",
        BriefVersionViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "briefs/<str:brief_id>/versions/<str:version>/restore",
        BriefVersionViewSet.as_view({"post": "restore"}),
    ),
]
