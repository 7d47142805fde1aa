"""Tools that read revisions of a post's live content."""

from __future__ import annotations

from typing import Any, Literal, cast
from uuid import UUID

from pydantic import Field

from content import presenters
from content.models import Revision
from content.store.revision_queries import differences, find_revision, revisions_of
from content.tools.arguments import Format, OnPost, PostId, require_post
from content.tools.rich_text import present_value
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page_after


class Revisions(Paged):
    post_id: PostId


class OneRevision(OnPost):
    revision_id: UUID
    compare_to: UUID | None = None
    format: Format = "concise"


class ListedRevision(Result):
    id: str
    layer: Literal["source"]
    reason: str
    by: str
    created_at: str
    changed_paths: list[str]
    agent_id: str | None = None
    version: int | None = None
    note: str | None = None
    run_id: str | None = None


class RevisionPage(ToolPage):
    items: list[ListedRevision]


class ShownChange(Result):
    path: str
    kind: str
    label: str
    before: Any = None
    after: Any = None


class ComparedRevisions(Result):
    from_: str = Field(alias="from")
    to: str


class WholeRevision(ListedRevision):
    """`changes` lead from the older of the `compared` revisions to the newer."""

    post_id: str
    document: dict[str, Any]
    compared: ComparedRevisions | None = None
    changes: list[ShownChange] | None = None


@tool(title="Revisions", kind="read", permission="posts.view", group="posts", result=RevisionPage)
def list_post_revisions(actor: Actor, arguments: Revisions) -> JsonObject:
    """List revisions of a post's live content, newest first: reason, author, paths."""
    rows = revisions_of(require_post(arguments.post_id, actor))

    def listed(part: list[Revision]) -> list[JsonObject]:
        return [_revision(row, arguments.is_full) for row in part]

    return page_after(arguments, "list_post_revisions", rows, ("-version",), listed)


@tool(title="Revision", kind="read", permission="posts.view", group="posts", result=WholeRevision)
def get_post_revision(actor: Actor, arguments: OneRevision) -> JsonObject:
    """A revision with its document; compareTo, another revision's id, adds the changes from older to newer."""
    post = require_post(arguments.post_id, actor)
    full = arguments.format == "full"
    try:
        row = find_revision(post, arguments.revision_id)
        wanted = arguments.compare_to
        other = None if wanted is None else find_revision(post, wanted)
    except NotFound as error:
        error.message += " Call list_post_revisions for the ids."
        raise
    document = cast("JsonObject", present_value(row.document, full))
    answer = {**_revision(row, full), "postId": str(post.pk), "document": document}
    if other is not None:
        older, newer = sorted((row, other), key=lambda revision: revision.version)
        answer["compared"] = {"from": str(older.pk), "to": str(newer.pk)}
        changes: list[Json] = []
        for item in differences(older, newer):
            wire: JsonObject = {"path": item.path, "kind": item.kind, "label": item.label}
            for name, value in (("before", item.before), ("after", item.after)):
                presented = present_value(presenters.value_as_json(value), full)
                if presented is not None:
                    wire[name] = presented
            changes.append(wire)
        answer["changes"] = changes
    return answer


def _revision(row: Revision, full: bool) -> JsonObject:
    wire: JsonObject = {
        "id": str(row.pk),
        "layer": "source",
        "reason": row.reason,
        "by": row.by_name,
        "createdAt": format_time(row.created_at),
        "changedPaths": row.changed_paths,
    }
    if row.agent_id:
        wire["agentId"] = row.agent_id
    if full:
        wire["version"] = row.version
        further = {"note": row.note, "runId": row.run_id}
        wire |= {name: value for name, value in further.items() if value}
    return wire
