"""URLs of taxonomies and their terms under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

TaxonomyViewSet = LazyViewSet("proofroom.taxonomies.api.taxonomies.TaxonomyViewSet")

urlpatterns = [
    path("taxonomies", TaxonomyViewSet.as_view({"get": "list"})),
    path(
        "taxonomies/<str:slug>/terms", TaxonomyViewSet.as_view({"get": "terms", "post": "create"})
    ),
    path(
        "taxonomy-terms/<str:term_id>",
        TaxonomyViewSet.as_view({"patch": "update", "delete": "destroy"}),
    ),
]
