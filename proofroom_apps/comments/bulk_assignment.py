"""Assignments in a bulk edit: a thread about each post, assigned to one person."""

from __future__ import annotations

from datetime import datetime
from typing import Final, cast

from django.utils.translation import gettext as _

from content.models import Post
from proofroom.accounts.queries import active_people
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.core.validation.moments import parse_moment
from proofroom_apps.comments.mentions import parse_mentions
from proofroom_apps.comments.models import Comment, CommentStatus
from proofroom_apps.comments.services import (
    clean_body,
    clean_due,
    comment_on_post,
    delete_comment,
)

ASSIGNMENT: Final = "assignment"
_WRITE: Final = "comments.write"


class BulkAssignment:
    """Starts an assigned thread about each post. The input is `assignee` (username or id), `dueAt` and `body`.

    A post that has the same open thread already gets no second one.
    """

    name = ASSIGNMENT

    def check(self, value: JsonObject, actor: Actor) -> JsonObject:
        actor.require(_WRITE)
        people = active_people()
        # Whether they may see a post is decided for each post.
        name = str(value.get("assignee") or "")
        reject_unstorable(name, "assignee")
        person = people.filter(username=name).first()
        if person is None:
            raise invalid("assignee", _("Choose a person."))
        body = clean_body(str(value.get("body") or ""))
        if any(mention.agent_id for mention in parse_mentions(body)):
            message = _("A bulk edit does not start agents. Use “Run an agent…” instead.")
            raise invalid("body", message)
        due_at = clean_due(_moment(value.get("dueAt")))
        # The id, because a deleted account must leave no name.
        return {"assignee": person.pk, "body": body, "dueAt": format_time(due_at)}

    def run(self, post: Post, value: JsonObject, actor: Actor) -> Json:
        assignee, body = cast(int, value["assignee"]), str(value["body"])
        same = Comment.objects.filter(
            post=post, parent=None, status=CommentStatus.OPEN, assignee=assignee, body=body
        )
        if same.exists():
            return None
        written = comment_on_post(
            post_id=post.pk,
            body=body,
            actor=actor,
            assignee=assignee,
            due_at=_moment(value["dueAt"]),
        )
        return {"id": str(written.comment.pk), "assignee": assignee, "dueAt": value["dueAt"]}

    def undo(self, post: Post, made: Json, actor: Actor) -> None:
        """Delete the thread, unless somebody answered, resolved or changed it."""
        if not isinstance(made, dict):
            return
        comment = Comment.objects.filter(post=post, pk=str(made["id"])).first()
        if comment is None:
            return
        is_same = (
            comment.status == CommentStatus.OPEN
            and comment.edited_at is None
            and comment.assignee_id == made["assignee"]
            and comment.due_at == _moment(made["dueAt"])
            and not comment.replies.exists()
        )
        if not is_same:
            raise Conflict(_("The comment was answered or changed in the meantime."))
        delete_comment(comment_id=comment.pk, actor=actor)


def _moment(value: Json) -> datetime | None:
    return parse_moment(value) if value else None
