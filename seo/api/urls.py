"""URLs of redirects under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PublicRedirectViewSet = LazyViewSet("seo.api.delivered_redirects.PublicRedirectViewSet")
RedirectFileViewSet = LazyViewSet("seo.api.redirects.RedirectFileViewSet")
RedirectViewSet = LazyViewSet("seo.api.redirects.RedirectViewSet")
ResolveViewSet = LazyViewSet("seo.api.resolve.ResolveViewSet")
SeoViewSet = LazyViewSet("seo.api.search_engines.SeoViewSet")

urlpatterns = [
    path("redirects", RedirectViewSet.as_view({"get": "list", "post": "create"})),
    path("redirects/export", RedirectFileViewSet.as_view({"get": "export"})),
    path("redirects/import", RedirectFileViewSet.as_view({"post": "import_lines"})),
    path(
        "redirects/<str:redirect_id>",
        RedirectViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("seo/sitemap/status", SeoViewSet.as_view({"get": "status"})),
    path("seo/sitemap/rebuild", SeoViewSet.as_view({"post": "rebuild"})),
    path("seo/canonical-urls/populate", SeoViewSet.as_view({"post": "populate"})),
    path("seo/trace", SeoViewSet.as_view({"get": "trace"})),
    path("public/redirects", PublicRedirectViewSet.as_view({"get": "list"})),
    path("public/resolve", ResolveViewSet.as_view({"get": "resolve", "post": "resolve_many"})),
]
