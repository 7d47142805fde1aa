"""The addresses of releases under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

ReleaseViewSet = LazyViewSet("proofroom_apps.releases.api.releases.ReleaseViewSet")
ReleaseItemViewSet = LazyViewSet("proofroom_apps.releases.api.releases.ReleaseItemViewSet")
ReleaseLinkViewSet = LazyViewSet("proofroom_apps.releases.api.preview_links.ReleaseLinkViewSet")

links = "releases/<str:release_id>/preview-links"
urlpatterns = [
    path("releases", ReleaseViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "releases/<str:release_id>",
        ReleaseViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("releases/<str:release_id>/publish", ReleaseViewSet.as_view({"post": "publish"})),
    path("releases/<str:release_id>/undo", ReleaseViewSet.as_view({"post": "undo"})),
    path(
        "releases/<str:release_id>/items",
        ReleaseItemViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "releases/<str:release_id>/items/<str:kind>/<str:object_id>",
        ReleaseItemViewSet.as_view({"delete": "destroy"}),
    ),
    path(links, ReleaseLinkViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{links}/<str:link_id>", ReleaseLinkViewSet.as_view({"delete": "destroy"})),
]
