"""MCP tools for comments: list, reply, resolve. Agents and AI clients start no threads."""

from __future__ import annotations

from typing import Any, Literal, cast
from uuid import UUID

from pydantic import Field

from content.models import Post
from content.tools.arguments import PostReference, require_post
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.agent_directory import limits_of_agent
from proofroom.core.json import JsonObject, format_time
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.call import note_post
from proofroom.core.tools.pagination import CursorPaged, list_of, open_cursor, seal_cursor
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.presenters import FOUND, REMOVED
from proofroom_apps.comments.queries import found_passages, threads_of
from proofroom_apps.comments.services import BODY_MAX
from proofroom_apps.comments.services import reply_to_comment as add_reply
from proofroom_apps.comments.services import resolve_comment as set_resolved

_TOOL = "list_comments"


class ListedReply(Result):
    id: str
    author: str
    body: str
    created_at: str


class ListedComment(Result):
    """`passageState` is `removed` if the quoted words are no longer in the field."""

    id: str
    author: str
    body: str
    status: Literal["open", "resolved"]
    created_at: str
    replies: list[ListedReply]
    path: str | None = None
    change_path: str | None = None
    quote: str | None = None
    passage_state: Literal["found", "removed"] | None = None
    assignee: str | None = None
    due_at: str | None = None


class CommentPage(Result):
    """`nextCursor` is present if more follows."""

    items: list[ListedComment]
    next_cursor: str | None = None


class AddedReply(Result):
    id: str
    thread_id: str
    warnings: list[str]


class ResolvedComment(Result):
    id: str
    status: Literal["open", "resolved"]


class ListComments(CursorPaged):
    post: PostReference
    status: Literal["open", "resolved"] | None = None


class NewReply(Arguments):
    comment_id: UUID
    body: str = Field(min_length=1, max_length=BODY_MAX)


class OneComment(Arguments):
    comment_id: UUID


@tool(
    title="Comments",
    kind="read",
    permission="comments.view",
    group="comments",
    result=CommentPage,
)
def list_comments(actor: Actor, arguments: ListComments) -> JsonObject:
    """Threads that people wrote about a post, its fields, passages and proposed changes, newest first."""
    actor = as_own_agent(actor)
    post = require_post(arguments.post, actor)
    of = list_of(arguments, _TOOL)
    start = 0
    if arguments.cursor is not None:
        start = cast(int, open_cursor(arguments.cursor, of=of)[0])
    rows = threads_of(post, status=arguments.status or "")
    found = list(rows[start : start + arguments.limit + 1])
    part = found[: arguments.limit]
    answer: JsonObject = {"items": _present(post, part)}
    if len(found) > len(part):
        answer["nextCursor"] = seal_cursor([start + len(part)], of=of)
    return answer


@tool(
    title="Reply to a comment",
    kind="stage",
    permission="comments.write",
    group="comments",
    result=AddedReply,
)
def reply_to_comment(actor: Actor, arguments: NewReply) -> JsonObject:
    """Reply in the thread of a comment, in plain text: what you did, or why not. Other tools stage changes."""
    written = add_reply(
        comment_id=arguments.comment_id, body=arguments.body, actor=as_own_agent(actor)
    )
    if written.comment.post_id is not None:
        note_post(written.comment.post_id)
    return {
        "id": str(written.comment.pk),
        "threadId": str(written.comment.parent_id),
        "warnings": [f"{warning.mention}: {warning.message}" for warning in written.warnings],
    }


@tool(
    title="Resolve a comment",
    kind="stage",
    permission="comments.write",
    group="comments",
    idempotent=True,
    result=ResolvedComment,
)
def resolve_comment(actor: Actor, arguments: OneComment) -> JsonObject:
    """Resolve a thread whose request is done. People can reopen it."""
    written = set_resolved(comment_id=arguments.comment_id, actor=as_own_agent(actor))
    if written.comment.post_id is not None:
        note_post(written.comment.post_id)
    return {"id": str(written.comment.pk), "status": written.comment.status}


def as_own_agent(actor: Actor) -> Actor:
    """Return the actor as the agent that the client's account belongs to, with the limits of both."""
    user = actor.user
    if actor.run_id is not None or not isinstance(user, User) or user.role != Role.AI_AGENT:
        return actor
    if not user.agent_id:
        return actor
    limits = limits_of_agent(user.agent_id)
    return actor.as_account(user, agent_id=user.agent_id, limits=limits)


def _present(post: Post, rows: list[Comment]) -> list[Any]:
    passages = found_passages(post, rows)
    items = []
    for row in rows:
        item: JsonObject = {
            **_words(row),
            "status": row.status,
            "replies": [_words(reply) for reply in row.replies.all()],
        }
        if row.path:
            item["path"] = row.path
        if row.change_path:
            item["changePath"] = row.change_path
        if row.quote:
            found = passages.get(row.pk)
            item["quote"] = found.quote if found is not None else row.quote
            item["passageState"] = FOUND if found is not None else REMOVED
        if row.assignee is not None:
            item["assignee"] = row.assignee.username
        if row.due_at is not None:
            item["dueAt"] = format_time(row.due_at)
        items.append(item)
    return items


def _words(row: Comment) -> JsonObject:
    return {
        "id": str(row.pk),
        "author": row.author.username if row.author is not None else row.agent_id,
        "body": row.body,
        "createdAt": format_time(row.created_at),
    }
