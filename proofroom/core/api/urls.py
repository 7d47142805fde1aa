"""URLs of core under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyView, LazyViewSet

ActivityViewSet = LazyViewSet("proofroom.core.activity.api.ActivityViewSet")

urlpatterns = [
    path("activity", ActivityViewSet.as_view({"get": "list"})),
    path("activity/export", ActivityViewSet.as_view({"get": "export"})),
    path("activity/<str:entry_id>", ActivityViewSet.as_view({"get": "retrieve"})),
    path("schema/", LazyView("proofroom.core.api.schema_views.SchemaView"), name="openapi"),
    path("docs/", LazyView("proofroom.core.api.schema_views.ReferenceView"), name="api-reference"),
]
