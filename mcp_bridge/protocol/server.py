"""The protocol server over the tool registry. Transports are in `transport` and in the command `run_mcp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import anyio
import mcp.types as wire
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcp_bridge.access.principals import SCOPE_KEY, Principal, actor_for, local_principal, may_use
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.protocol import completion, prompts, resources
from mcp_bridge.protocol.progress import follow_call
from mcp_bridge.protocol.resources import is_answered_by_tool
from mcp_bridge.protocol.tool_calls import CANCELLED, call_tool, log_refused, log_unknown
from mcp_bridge.protocol.worker_threads import Workers
from proofroom.core.errors import CmsError
from proofroom.core.tools import Tool, all_tools, get_tool, load_tools
from proofroom.core.tools.call import nearest
from proofroom.core.tools.schemas import lean_schema, result_schema


def tool_description(tool: Tool[BaseModel]) -> wire.Tool:
    """The registry's tool in the protocol's words."""
    return wire.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=lean_schema(tool.arguments),
        output_schema=None if tool.result is None else result_schema(tool.result),
        annotations=wire.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.kind == "read",
            destructive_hint=tool.kind == "remove",
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.kind == "open",
        ),
    )


Context = ServerRequestContext[Any, Any]
COUNTED_AS_CALLS: Final = frozenset({"tools/call", "resources/list", "completion/complete"})
"""Methods that count themselves, as does a resource that a tool answers."""
UNCOUNTED: Final = frozenset({"initialize", "server/discover", "ping"})
"""Methods that read nothing; the number of sessions has a limit of its own."""


def count_requests(
    workers: Workers, principal_of: Callable[[Context], Principal]
) -> ServerMiddleware[Any]:
    """Return a middleware that counts requests against the rate of their credential.

    Calls count themselves, so that a client in a loop over lists is slowed down as one that calls.
    """

    async def counted(ctx: Context, call_next: CallNext) -> HandlerResult:
        counts_itself = ctx.method in COUNTED_AS_CALLS or (
            ctx.method == "resources/read"
            and is_answered_by_tool(str((ctx.params or {}).get("uri")))
        )
        if ctx.request_id is not None and ctx.method not in UNCOUNTED and not counts_itself:
            try:
                await workers.run(count_call, principal_of(ctx))
            except TooManyCalls as error:
                raise MCPError(wire.INVALID_REQUEST, error.message, {"code": error.code}) from None
        return await call_next(ctx)

    return counted


NAME = "proofroom"
VERSION = "0.1.0"
LIST_TTL_MS = 300_000

INSTRUCTIONS = (
    "Proofroom, a CMS: you propose, people decide. Read first: list_posts, get_post_context; "
    "get_module_schema before you write props. Tools ending in _ai_review stage in AI Review; live content never "
    "changes. When all is staged, call submit_ai_review_to_review: a person approves. You cannot "
    "publish or delete. Take ids from lists, never guess; send nextCursor back as cursor. Errors say "
    "what to send instead: mend the call. Translate: create_translation_ai_review, then fill its "
    "modules. Images: search_media first; generate_image costs money. More: cms://guidelines."
)


def build_server() -> Server[Any]:
    """A server with every registered tool. One per process; it serves any number of connections."""
    load_tools()  # now, and not while the first client waits
    workers = Workers()

    async def list_tools(
        ctx: Context, params: wire.PaginatedRequestParams | None
    ) -> wire.ListToolsResult:
        return await workers.run(_tools_of, principal_of(ctx))

    async def run_tool(ctx: Context, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        principal, raw = principal_of(ctx), params.arguments or {}
        tool = get_tool(params.name)
        if tool is None:
            await workers.run(log_unknown, principal, params.name, raw)
            guess = nearest(params.name, [known.name for known in all_tools()])
            hint = f" (did you mean {guess}?)" if guess else ". Call tools/list for the names."
            raise MCPError(wire.INVALID_PARAMS, f"Unknown tool: {params.name[:128]}{hint}")
        if not tool.waits:
            return await workers.run(call_tool, principal, params.name, raw)
        # It may take long: its steps are reported, and it ends soon after the client cancels.
        async with follow_call(ctx.session) as follower:
            try:
                return await workers.run_waiting(
                    principal.id, call_tool, principal, params.name, raw, follower
                )
            except anyio.get_cancelled_exc_class():
                if not follower.has_begun:
                    with anyio.CancelScope(shield=True):
                        await workers.run(log_refused, principal, params.name, raw, CANCELLED)
                raise

    hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="private")
    server: Server[Any] = Server(
        NAME,
        version=VERSION,
        title="Proofroom",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=run_tool,
        # Without this the SDK runs the whole tools/list for every call of the newest revision.
        get_tool_input_schema=lambda name: (
            None if (tool := get_tool(name)) is None else lean_schema(tool.arguments)
        ),
        cache_hints={
            "tools/list": hint,
            "prompts/list": hint,
            "resources/list": CacheHint(ttl_ms=resources.LIST_TTL_MS, scope="private"),
            "resources/templates/list": hint,
        },
        **resources.handlers(workers, principal_of),
        **prompts.handlers(),
        on_completion=completion.handler(workers, principal_of),
    )
    server.middleware.append(count_requests(workers, principal_of))
    return server


def principal_of(ctx: Context) -> Principal:
    """The principal that the transport accepted for this message. Without HTTP the caller is the
    operator."""
    if ctx.request is None:
        return local_principal()
    principal = ctx.request.scope.get(SCOPE_KEY)
    if not isinstance(principal, Principal):
        raise MCPError(wire.INVALID_REQUEST, "This request carries no credential.")
    return principal


def _tools_of(principal: Principal) -> wire.ListToolsResult:
    try:
        actor = actor_for(principal)
    except CmsError as error:
        raise MCPError(wire.INVALID_REQUEST, error.message) from error
    tools = [tool_description(tool) for tool in all_tools() if may_use(principal, actor, tool)]
    return wire.ListToolsResult(tools=tools)
