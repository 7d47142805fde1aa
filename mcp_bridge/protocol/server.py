"""The protocol server over the tool registry. Transports are in `asgi` and in the command
`run_mcp`."""

from __future__ import annotations

from typing import Any

import anyio
import mcp.types as wire
from django.utils.module_loading import autodiscover_modules
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from core.errors import CmsError
from core.tools import all_tools, get_tool
from core.tools.arguments import nearest
from core.tools.schemas import lean_schema
from mcp_bridge.access.counting import counting
from mcp_bridge.access.credentials import SCOPE_KEY, Principal, actor_for, local_principal, may_use
from mcp_bridge.calls import CANCELLED, call_tool, log_refused, log_unknown
from mcp_bridge.protocol import completion, prompts, resources
from mcp_bridge.protocol.following import following
from mcp_bridge.protocol.schemas import wire_tool
from mcp_bridge.protocol.threads import Workers

NAME = "cms"
VERSION = "0.1.0"
LIST_TTL_MS = 300_000

INSTRUCTIONS = (
    "A CMS: you propose, people decide. Read first: list_posts, get_post_context; get_module_schema "
    "before you write props. Tools ending in _ai_review stage in AI Review; live content never "
    "changes. When all is staged, call submit_ai_review_to_review: a person approves. You cannot "
    "publish or delete. Take ids from lists, never guess; send nextCursor back as cursor. Errors say "
    "what to send instead: mend the call. Translate: create_translation_ai_review, then fill its "
    "modules. Images: search_media first; generate_image costs money. More: cms://guidelines."
)

Context = ServerRequestContext[Any, Any]


def build_server() -> Server[Any]:
    """A server with every registered tool. One per process; it serves any number of connections."""
    autodiscover_modules("tools")
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
            raise _unknown_tool(params.name)
        if tool.waits:
            return await _run_followed(ctx, workers, principal, params.name, raw)
        return await workers.run(call_tool, principal, params.name, raw)

    hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="private")
    server: Server[Any] = Server(
        NAME,
        version=VERSION,
        title="CMS",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=run_tool,
        # Without this the SDK runs the whole tools/list for every call of the newest revision.
        get_tool_input_schema=_input_schema,
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
    server.middleware.append(counting(workers, principal_of))
    return server


async def _run_followed(
    ctx: Context, workers: Workers, principal: Principal, name: str, raw: dict[str, Any]
) -> wire.CallToolResult:
    """A call that may take long: its steps are told, and it ends soon after the client cancels."""
    async with following(ctx.session) as follower:
        try:
            return await workers.run_waiting(
                principal.id, call_tool, principal, name, raw, follower
            )
        except anyio.get_cancelled_exc_class():
            if not follower.has_begun:
                with anyio.CancelScope(shield=True):
                    await workers.run(log_refused, principal, name, raw, CANCELLED)
            raise


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
    tools = [wire_tool(tool) for tool in all_tools() if may_use(principal, actor, tool)]
    return wire.ListToolsResult(tools=tools)


def _input_schema(name: str) -> dict[str, Any] | None:
    tool = get_tool(name)
    return None if tool is None else lean_schema(tool.arguments)


def _unknown_tool(name: str) -> MCPError:
    guess = nearest(name, [tool.name for tool in all_tools()])
    hint = f" (did you mean {guess}?)" if guess else ". Call tools/list for the names."
    return MCPError(wire.INVALID_PARAMS, f"Unknown tool: {name[:128]}{hint}")
