"""URLs of media under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

AssetViewSet = LazyViewSet("media.api.assets.AssetViewSet")
FileViewSet = LazyViewSet("media.api.files.FileViewSet")

asset = "media/<str:media_id>"
urlpatterns = [
    path("media", AssetViewSet.as_view({"get": "list"})),
    path("media/upload", FileViewSet.as_view({"post": "upload"})),
    path("media/categories", AssetViewSet.as_view({"get": "categories"})),
    path(
        asset,
        AssetViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
    path(f"{asset}/where-used", AssetViewSet.as_view({"get": "where_used"})),
    path(f"{asset}/variants", AssetViewSet.as_view({"post": "variants"})),
    path(f"{asset}/replace", FileViewSet.as_view({"post": "replace"})),
]
