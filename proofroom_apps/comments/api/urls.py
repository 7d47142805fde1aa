"""Addresses of comments under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PostCommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.PostCommentViewSet")
MediaCommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.MediaCommentViewSet")
CommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.CommentViewSet")

urlpatterns = [
    path(
        "posts/<str:post_id>/comments",
        PostCommentViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "media/<str:media_id>/comments",
        MediaCommentViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "comments/<str:comment_id>",
        CommentViewSet.as_view({"patch": "update", "delete": "destroy"}),
    ),
]
