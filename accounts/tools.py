"""Looking at the activity log, for AI clients that look for a fault."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from core.activity.presenters import present
from core.activity.reading import Chosen, entries
from core.actor import Actor
from core.errors import invalid
from core.events import find_kind
from core.json import JsonObject
from core.tools import Arguments, tool


class TailActivityLogs(Arguments):
    limit: int = Field(20, ge=1, le=100)
    entity_id: str | None = Field(None, max_length=40, description="The id of a post.")
    action: str | None = Field(None, max_length=60, description="An event, such as post.published.")


@tool(
    title="Latest entries of the activity log",
    kind="read",
    permission="settings.manage",
    arguments=TailActivityLogs,
    group="diagnostics",
)
def tail_activity_logs(actor: Actor, arguments: TailActivityLogs) -> JsonObject:
    """Who did what lately, newest first: of one post with entityId, of one kind with action. Words of visitors and
    secrets are left out."""
    chosen = Chosen(event=_event(arguments.action), post_id=_post(arguments.entity_id))
    found = present(list(entries(chosen)[: arguments.limit]), actor)
    names = (
        "id",
        "createdAt",
        "event",
        "sentence",
        "door",
        "agentId",
        "runId",
        "postId",
        "payload",
    )
    return {"entries": [{name: entry[name] for name in names} for entry in found]}


def _event(action: str | None) -> str | None:
    if action is not None and find_kind(action) is None:
        raise invalid("action", f"There is no event {action!r}; leave action out to see all.")
    return action


def _post(entity_id: str | None) -> UUID | None:
    try:
        return None if entity_id is None else UUID(entity_id)
    except ValueError:
        raise invalid("entityId", "entityId must be the UUID of a post.") from None
