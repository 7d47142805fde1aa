"""Comments as answers of the API and of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field

from content.models import Post
from proofroom.core.api.answer import Answer, PersonAnswer, TextOrNull, one_of
from proofroom_apps.comments.anchors import Anchor
from proofroom_apps.comments.mentions import MentionWarning
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.queries import anchor_of, found_passages, with_thread

FOUND = "found"
REMOVED = "removed"


class PassageAnswer(Answer):
    """A passage: its words, and some of the text around them."""

    quote: str
    prefix: str
    suffix: str


class MentionWarningAnswer(Answer):
    """A mention that reached nobody, and why."""

    mention: str
    message: str


class ReplyAnswer(Answer):
    """A reply. It has the place and the status of its thread."""

    id: UUID
    post_id: UUID | None
    path: TextOrNull
    passage: PassageAnswer | None
    passage_state: Annotated[str, one_of((FOUND, REMOVED))] | None
    change_path: TextOrNull
    body: str
    author: PersonAnswer | None
    status: Annotated[str, one_of(CommentStatus.values)]
    assignee: PersonAnswer | None
    due_at: datetime | None
    parent_id: UUID | None
    replies: list[Any] = Field(description="Empty: replies have none.")
    warnings: list[MentionWarningAnswer]
    created_at: datetime


class CommentAnswer(Answer):
    """A comment with its replies. `warnings` are about mentions, in the answer to a write only."""

    id: UUID
    post_id: UUID | None = Field(description="Null for a comment on a file.")
    path: TextOrNull
    passage: PassageAnswer | None = Field(description="As it was last found.")
    passage_state: Annotated[str, one_of((FOUND, REMOVED))] | None = Field(
        description="Null without a passage."
    )
    change_path: TextOrNull
    body: str
    author: PersonAnswer | None
    status: Annotated[str, one_of(CommentStatus.values)]
    assignee: PersonAnswer | None
    due_at: datetime | None
    parent_id: UUID | None
    replies: list[ReplyAnswer]
    warnings: list[MentionWarningAnswer]
    created_at: datetime

    @classmethod
    def of_thread(
        cls,
        row: Comment,
        passages: Mapping[UUID, Anchor | None],
        warnings: Sequence[MentionWarning] = (),
    ) -> Self:
        """Read a thread. `passages`: where the passages stand now, by id."""
        place = _place(row, passages)
        replies = [
            ReplyAnswer.of(
                reply, **place, status=row.status, assignee=None, replies=[], warnings=[]
            )
            for reply in row.replies.all()
        ]
        return cls.of(row, **place, replies=replies, warnings=list(warnings))


def present_threads(subject: Post | None, rows: Sequence[Comment]) -> list[CommentAnswer]:
    """Return threads of one post or file. At most one query."""
    passages = found_passages(subject, rows)
    return [CommentAnswer.of_thread(row, passages) for row in rows]


def present_comment(comment: Comment, warnings: Sequence[MentionWarning] = ()) -> CommentAnswer:
    """Return a comment after a write: a thread with its replies, or a reply."""
    rows = with_thread(Comment.objects.select_related("post", "parent"))
    row = rows.get(pk=comment.pk)
    root = row.parent or row
    passages = found_passages(row.post, [root])
    if row.parent is None:
        return CommentAnswer.of_thread(row, passages, warnings)
    return CommentAnswer.of(
        row, **_place(root, passages), status=root.status, replies=[], warnings=list(warnings)
    )


def _place(root: Comment, passages: Mapping[UUID, Anchor | None]) -> dict[str, Any]:
    """Return the place of a thread, which its replies share."""
    place: dict[str, Any] = {
        "path": root.path,
        "change_path": root.change_path,
        "passage": None,
        "passage_state": None,
    }
    if root.quote:
        found = passages.get(root.pk)
        place["passage"] = found or anchor_of(root)
        place["passage_state"] = FOUND if found is not None else REMOVED
    return place
