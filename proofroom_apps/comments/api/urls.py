"""Addresses of comments under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PostCommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.PostCommentViewSet")
MediaCommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.MediaCommentViewSet")
CommentViewSet = LazyViewSet("proofroom_apps.comments.api.comments.CommentViewSet")
PostMentionViewSet = LazyViewSet("proofroom_apps.comments.api.comments.PostMentionViewSet")
MediaMentionViewSet = LazyViewSet("proofroom_apps.comments.api.comments.MediaMentionViewSet")

urlpatterns = [
    path(
        "posts/<str:post_id>/comments",
        PostCommentViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "media/<str:media_id>/comments",
        MediaCommentViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path("posts/<str:post_id>/mentions", PostMentionViewSet.as_view({"get": "retrieve"})),
    path("media/<str:media_id>/mentions", MediaMentionViewSet.as_view({"get": "retrieve"})),
    path(
        "comments/<str:comment_id>",
        CommentViewSet.as_view({"patch": "update", "delete": "destroy"}),
    ),
]
