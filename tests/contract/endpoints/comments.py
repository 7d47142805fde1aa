"""Comments on posts and files."""

from __future__ import annotations

from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.services import comment_on_asset, comment_on_post
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names


def scene() -> Names:
    post, asset = make.post(), make.image()
    editor = make.actor("editor")
    written = comment_on_post(post_id=post.pk, body="Shorter", actor=editor)
    comment_on_asset(asset_id=asset.pk, body="Too dark", actor=editor)
    return {
        "post_id": str(post.pk),
        "media_id": str(asset.pk),
        "comment_id": str(written.comment.pk),
    }


def grow(number: int) -> None:
    make.copies(Comment.objects.filter(asset=None).earliest("created_at"), number)


def grow_of_file(number: int) -> None:
    make.copies(Comment.objects.filter(post=None).earliest("created_at"), number)


ENDPOINTS = [
    Endpoint(
        "GET /api/posts/<post_id>/comments", PEOPLE, invalid=("?status=done", "status"), grow=grow
    ),
    Endpoint(
        "POST /api/posts/<post_id>/comments",
        PEOPLE,
        201,
        body={"body": "Walked", "path": "post.title"},
        invalid=({"body": " "}, "body"),
    ),
    Endpoint(
        "GET /api/media/<media_id>/comments",
        PEOPLE,
        invalid=("?status=done", "status"),
        grow=grow_of_file,
    ),
    Endpoint(
        "POST /api/media/<media_id>/comments",
        PEOPLE,
        201,
        body={"body": "Walked"},
        invalid=({"body": " "}, "body"),
    ),
    Endpoint(
        "GET /api/posts/<post_id>/mentions",
        PEOPLE,
        invalid=("?search=" + "a" * 200, "search"),
    ),
    Endpoint(
        "GET /api/media/<media_id>/mentions",
        PEOPLE,
        invalid=("?search=" + "a" * 200, "search"),
    ),
    Endpoint(
        "PATCH /api/comments/<comment_id>",
        PEOPLE,
        body={"status": "resolved"},
        invalid=({"status": "done"}, "status"),
    ),
    # The comment is the editor's: a translator deletes their own only.
    Endpoint("DELETE /api/comments/<comment_id>", EDITORS),
]
