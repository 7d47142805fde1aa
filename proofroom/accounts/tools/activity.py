"""Looking at the activity log, for AI clients that look for a fault."""

from __future__ import annotations

from typing import Final, cast

from pydantic import Field

from proofroom.core.activity.presenters import present
from proofroom.core.activity.queries import (
    ActivityFilter,
    filter_activity,
    filter_by_entity,
    names_of,
)
from proofroom.core.actor import Actor
from proofroom.core.api.pagination import count
from proofroom.core.errors import invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.outbox.event_kinds import all_kinds
from proofroom.core.redaction import SecretRedactor
from proofroom.core.tools import tool
from proofroom.core.tools.arguments import nearest
from proofroom.core.tools.cursors import open_cursor, seal_cursor
from proofroom.core.tools.pagination import Paged, ToolPage

_CONCISE: Final = ("id", "createdAt", "event", "sentence", "door", "agentId", "runId", "postId")
_FULL: Final = (*_CONCISE, "label", "causeId", "payload")


class TailActivityLogs(Paged):
    entity_id: str | None = Field(
        None, min_length=1, max_length=100, description="Of a post, run, agent, file, …"
    )
    action: str | None = Field(None, max_length=60, description="Such as post.published, or post.")


@tool(
    title="Latest entries of the activity log",
    kind="read",
    permission="settings.manage",
    group="diagnostics",
    result=ToolPage,
)
def tail_activity_logs(actor: Actor, arguments: TailActivityLogs) -> JsonObject:
    """Who did what lately, newest first: to one thing with entityId, of one kind with action. Without secrets
    and words of visitors; full adds what each entry says."""
    actor.require_diagnosis("settings.manage")
    rows = filter_activity(ActivityFilter(event=_event(arguments.action)))
    if arguments.entity_id is not None:
        rows = filter_by_entity(rows, arguments.entity_id)
    total = count(rows)
    of = f"tail_activity_logs {arguments.entity_id} {arguments.action}"
    if arguments.cursor is not None:
        rows = rows.filter(pk__lt=cast(int, open_cursor(arguments.cursor, of=of)[0]))
    found = list(rows[: arguments.limit + 1])
    shown = found[: arguments.limit]
    redactor, names = SecretRedactor(), _FULL if arguments.is_full else _CONCISE
    answer: JsonObject = {
        "items": [
            {
                name: _hidden(entry[name], redactor)
                for name in names
                if entry[name] not in (None, "", {})
            }
            for entry in cast("list[JsonObject]", present(shown, actor))
        ],
        "total": total,
    }
    if len(found) > len(shown):
        answer["nextCursor"] = seal_cursor([shown[-1].pk], of=of)
    return answer


def _hidden(value: Json, redactor: SecretRedactor) -> Json:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {name: _hidden(item, redactor) for name, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item, redactor) for item in value]
    return value


def _event(action: str | None) -> str | None:
    if action is None or names_of(action):
        return action
    close = nearest(action, [kind.name for kind in all_kinds()])
    hint = f"did you mean {close}?" if close else "leave action out to see all."
    raise invalid("action", f"There is no event {action!r}; {hint}")
