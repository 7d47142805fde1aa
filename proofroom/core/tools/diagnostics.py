"""MCP tools for diagnosis: the activity log, management commands, responses and the server log."""

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
from proofroom.core.database.row_counts import count_rows
from proofroom.core.diagnostics import command_runner, commands, local_route, server_log
from proofroom.core.errors import invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.outbox.events import all_kinds
from proofroom.core.redaction import SecretRedactor
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.call import nearest
from proofroom.core.tools.pagination import Paged, ToolPage, open_cursor, seal_cursor

_CONCISE: Final = ("id", "createdAt", "event", "sentence", "door", "agentId", "runId", "postId")
_FULL: Final = (*_CONCISE, "label", "causeId", "payload")


class TailActivityLogs(Paged):
    entity_id: str | None = Field(
        None, min_length=1, max_length=100, description="Of a post, run, agent, file, …"
    )
    action: str | None = Field(None, max_length=60, description="Such as post.published, or post.")


class ActivityPage(ToolPage):
    """`totalIsEstimate` is there and true where `total` is an estimate."""

    total_is_estimate: bool | None = None


@tool(
    title="Latest entries of the activity log",
    kind="read",
    permission="settings.manage",
    group="diagnostics",
    result=ActivityPage,
)
def tail_activity_logs(actor: Actor, arguments: TailActivityLogs) -> JsonObject:
    """List recent activity, newest first: of one thing with entityId, of one kind with action. Without secrets and
    words of visitors; full adds what each entry says.
    """
    actor.require_diagnosis("settings.manage")
    action = arguments.action
    if action is not None and not names_of(action):
        close = nearest(action, [kind.name for kind in all_kinds()])
        hint = f"did you mean {close}?" if close else "leave action out to see all."
        raise invalid("action", f"There is no event {action!r}; {hint}")
    rows = filter_activity(ActivityFilter(event=action))
    if arguments.entity_id is not None:
        rows = filter_by_entity(rows, arguments.entity_id)
    total = count_rows(rows)
    # The cursor is sealed with the filters, so that it cannot continue another list.
    cursor_scope = f"tail_activity_logs {arguments.entity_id} {action}"
    if arguments.cursor is not None:
        rows = rows.filter(pk__lt=cast(int, open_cursor(arguments.cursor, of=cursor_scope)[0]))
    # One row more than asked, to know whether there is a next page.
    found = list(rows[: arguments.limit + 1])
    page_rows = found[: arguments.limit]
    redactor, names = SecretRedactor(), _FULL if arguments.is_full else _CONCISE
    answer: JsonObject = {
        "items": [
            {
                name: _redact(entry[name], redactor)
                for name in names
                if entry[name] not in (None, "", {})
            }
            for entry in cast("list[JsonObject]", present(page_rows, actor))
        ],
        "total": total.number,
    }
    if not total.is_exact:
        answer["totalIsEstimate"] = True
    if len(found) > len(page_rows):
        answer["nextCursor"] = seal_cursor([page_rows[-1].pk], of=cursor_scope)
    return answer


def _redact(value: Json, redactor: SecretRedactor) -> Json:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {name: _redact(item, redactor) for name, item in value.items()}
    if isinstance(value, list):
        return [_redact(item, redactor) for item in value]
    return value


class RunAceCommand(Arguments):
    command: str = Field(max_length=60, description="Such as check.")
    args: list[str] = Field([], max_length=commands.MAX_ARGUMENTS)


class LocalRoute(Arguments):
    path: str = Field(max_length=local_route.LONGEST_PATH, description="Such as /blog/x?page=2.")
    method: local_route.Method = "GET"


class ReadServerLogs(Arguments):
    lines: int = Field(100, ge=1, le=server_log.MAX_LOG_LINES)
    level: server_log.LogLevel = Field("debug", description="The least serious that is answered.")


class RouteAnswer(Result):
    """`body` is present for text, `location` for redirects, `cut` for longer text."""

    status: int
    ms: int
    headers: dict[str, str]
    location: str | None = None
    size: int | None = Field(None, alias="bytes")
    body: str | None = None
    cut: bool | None = None


@tool(
    title="Run a management command",
    kind="open",
    permission="settings.manage",
    group="diagnostics",
    idempotent=True,
    waits=True,
)
def run_ace_command(actor: Actor, arguments: RunAceCommand) -> JsonObject:
    """Run one of the management commands that the operator offers (MCP_COMMANDS: check, showmigrations,
    dump_mcp_context, …) and return its exit code and output.
    """
    ran = command_runner.run_command(name=arguments.command, arguments=arguments.args, actor=actor)
    answer: JsonObject = {"command": ran.command, "args": [*ran.arguments], "output": ran.output}
    if ran.exit_code is None:
        answer["stopped"] = (
            f"It had not ended after {command_runner.COMMAND_TIMEOUT_SECONDS:.0f} seconds."
        )
    else:
        answer["exitCode"] = ran.exit_code
    if ran.left_out:
        answer["leftOut"] = ran.left_out
    return answer


@tool(
    title="Try an address of this site",
    kind="read",
    permission="settings.manage",
    group="diagnostics",
    result=RouteAnswer,
    waits=True,
)
def test_local_route(actor: Actor, arguments: LocalRoute) -> JsonObject:
    """Fetch a path as an anonymous visitor: status, headers and the first 20 kB of text. It follows no
    redirects and counts no visit.
    """
    found = local_route.local_answer(path=arguments.path, method=arguments.method, actor=actor)
    answer: JsonObject = {
        "status": found.status,
        "location": found.location,
        "ms": found.ms,
        "bytes": found.size,
        "headers": dict(found.headers),
        "body": found.body,
        "cut": found.is_cut or None,
    }
    return {name: value for name, value in answer.items() if value is not None}


@tool(
    title="Latest records of the server's log",
    kind="read",
    permission="settings.manage",
    group="diagnostics",
    result=ToolPage,
    reads_untrusted=True,
)
def read_server_logs(actor: Actor, arguments: ReadServerLogs) -> JsonObject:
    """Return the newest records of the application's log, newest first, with whole tracebacks. Secrets and people's
    addresses are hidden.
    """
    found = server_log.read_log(actor=actor, lines=arguments.lines, level=arguments.level)
    items: list[JsonObject] = [
        {"at": row.at, "level": row.level, "logger": row.logger, "text": row.text}
        for row in found.records
    ]
    answer: JsonObject = {"items": items, "total": found.total}
    return {**answer, "note": found.note} if found.note else answer
