"""Addresses of snippets and post templates under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

SnippetViewSet = LazyViewSet("proofroom_apps.snippets.api.snippets.SnippetViewSet")
PostTemplateViewSet = LazyViewSet("proofroom_apps.snippets.api.post_templates.PostTemplateViewSet")

urlpatterns = [
    path("snippets", SnippetViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "snippets/<str:snippet_id>",
        SnippetViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("post-templates", PostTemplateViewSet.as_view({"get": "list", "post": "create"})),
    path("post-templates/<str:template_id>", PostTemplateViewSet.as_view({"delete": "destroy"})),
]
