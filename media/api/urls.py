"""URLs of media under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

AssetViewSet = LazyViewSet("media.api.assets.AssetViewSet")
AltTextProposalViewSet = LazyViewSet("media.api.alt_text_proposals.AltTextProposalViewSet")
FileViewSet = LazyViewSet("media.api.files.FileViewSet")

asset = "media/<str:media_id>"
urlpatterns = [
    path("media", AssetViewSet.as_view({"get": "list"})),
    path("media/upload", FileViewSet.as_view({"post": "upload"})),
    path("media/categories", AssetViewSet.as_view({"get": "categories"})),
    path("media/alt-text-proposals", AltTextProposalViewSet.as_view({"get": "waiting"})),
    path(
        "media/alt-text-proposals/<str:proposal_id>/accept",
        AltTextProposalViewSet.as_view({"post": "accept"}),
    ),
    path(
        "media/alt-text-proposals/<str:proposal_id>/reject",
        AltTextProposalViewSet.as_view({"post": "reject"}),
    ),
    path(f"{asset}/alt-text-proposals", AltTextProposalViewSet.as_view({"get": "list"})),
    path(
        asset,
        AssetViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
    path(f"{asset}/where-used", AssetViewSet.as_view({"get": "where_used"})),
    path(f"{asset}/variants", AssetViewSet.as_view({"post": "variants"})),
    path(f"{asset}/replace", FileViewSet.as_view({"post": "replace"})),
]
