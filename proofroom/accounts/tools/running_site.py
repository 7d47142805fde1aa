"""Commands, answers and the log of the site, for AI clients that look for a fault."""

from __future__ import annotations

from pydantic import Field

from proofroom.core.actor import Actor
from proofroom.core.diagnostics import command_runner, commands, local_route, server_log
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import ToolPage


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
    """`body` is there where the answer is text, `location` where it leads on, `cut` where the text is longer."""

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
    dump_mcp_context, …) and answer its exit code and output."""
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
    """What a visitor without an account gets at a path of this site: status, headers and the first 20 kB of text. No
    redirect is followed, no visit is counted."""
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
    """The newest records of the application's log, newest first, with whole tracebacks. Secrets and addresses of
    people are hidden."""
    found = server_log.read_log(actor=actor, lines=arguments.lines, level=arguments.level)
    items: list[JsonObject] = [
        {"at": row.at, "level": row.level, "logger": row.logger, "text": row.text}
        for row in found.records
    ]
    answer: JsonObject = {"items": items, "total": found.total}
    return {**answer, "note": found.note} if found.note else answer
