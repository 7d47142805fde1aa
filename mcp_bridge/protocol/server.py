"""The protocol server over the tool registry. Transports are in `transport` and in the command `run_mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio
import mcp.types as wire
import orjson
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcp_bridge.access.principals import SCOPE_KEY, Principal, actor_for, local_principal, may_use
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.access.tool_sets import (
    CORE_TOOLS,
    ENABLE_TOOL,
    CredentialTools,
    EnabledTools,
    SessionTools,
    is_core,
)
from mcp_bridge.protocol import completion, elicitation, prompts, resources, subscriptions
from mcp_bridge.protocol.brief import BriefSource, FirstAnswers
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.elicitation import EXPECTED_VERSION
from mcp_bridge.protocol.progress import follow_call
from mcp_bridge.protocol.resources import is_answered_by_tool
from mcp_bridge.protocol.subscriptions import ChangeFeed, connection_of
from mcp_bridge.protocol.tool_calls import (
    CANCELLED,
    WRITES_FRAGMENTS_KEY,
    CallAnswer,
    answer_call,
    log_refused,
    log_unknown,
)
from mcp_bridge.worker_threads import Workers
from proofroom.core.errors import CmsError
from proofroom.core.observability.operations import find_tracer
from proofroom.core.tools import Tool, all_tools, get_tool, load_tools
from proofroom.core.tools.call import nearest
from proofroom.core.tools.schemas import lean_schema, result_schema
from proofroom.version import product_version


def tool_description(tool: Tool[BaseModel]) -> wire.Tool:
    """Return the protocol's description of a tool."""
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
            # Tools that spend money call a provider.
            open_world_hint=tool.kind == "open" or tool.costs,
        ),
    )


def core_description(tool: Tool[BaseModel]) -> wire.Tool:
    """Return the description of a tool in the core set: without title and output schema, and without hints that
    say what the protocol assumes anyway."""
    described = tool_description(tool)
    hints = described.annotations or wire.ToolAnnotations()
    is_read = hints.read_only_hint
    annotations = wire.ToolAnnotations(
        read_only_hint=is_read or None,
        # These two say nothing about tools that only read.
        destructive_hint=None if is_read or hints.destructive_hint else False,
        idempotent_hint=None if is_read else hints.idempotent_hint or None,
        open_world_hint=None if hints.open_world_hint else False,
    )
    left_out = {"title": None, "output_schema": None, "annotations": annotations}
    return described.model_copy(update=left_out)


Context = ServerRequestContext[Any, Any]
COUNTED_AS_CALLS: Final = frozenset({"tools/call", "resources/list", "completion/complete"})
"""Methods that count themselves; also resources answered by a tool."""
UNCOUNTED: Final = frozenset({"initialize", "server/discover", "ping"})
"""Methods that read nothing. The number of sessions has its own limit."""


def count_requests(workers: Workers, access: ServerAccess) -> ServerMiddleware[Any]:
    """Return a middleware that counts requests against the rate of their credential.

    Calls count themselves, so that a loop over lists is limited like a loop over calls.
    """

    async def counted(ctx: Context, call_next: CallNext) -> HandlerResult:
        counts_itself = ctx.method in COUNTED_AS_CALLS or (
            ctx.method == "resources/read"
            and is_answered_by_tool(str((ctx.params or {}).get("uri")))
        )
        if ctx.request_id is not None and ctx.method not in UNCOUNTED and not counts_itself:
            try:
                await workers.run(count_call, principal_of(ctx), hit=access.counts.count)
            except TooManyCalls as error:
                raise MCPError(wire.INVALID_REQUEST, error.message, {"code": error.code}) from None
        return await call_next(ctx)

    return counted


NEWEST_REVISION: Final = "2026-07-28"
STRUCTURED_REVISIONS: Final = frozenset({"2025-06-18", "2025-11-25", NEWEST_REVISION})
NAME = "proofroom"
LIST_TTL_MS = 300_000

INSTRUCTIONS = (
    "Proofroom, a CMS: you propose, people decide. Read first: list_posts, get_post_context; "
    "get_module_schema before you write props. Tools ending in _ai_review stage in AI Review; live content never "
    "changes. When all is staged, call submit_ai_review_to_review: a person approves. You cannot "
    "publish or delete. Take ids from lists, never guess; send nextCursor back as cursor. Errors say "
    "what to send instead: mend the call. Translate: create_translation_ai_review, then fill its "
    "modules. Images: search_media first; generate_image costs money. Style: get_editorial_brief. More: cms://guidelines."
)


class ToolCalls:
    """Tool calls of the protocol, each with one switch to a thread.

    With running `batches`, reads are logged in batches.
    """

    def __init__(
        self, workers: Workers, access: ServerAccess, batches: CallBatches | None = None
    ) -> None:
        self._workers = workers
        self._access = access
        self._batches = batches
        self._first_answers = FirstAnswers()
        self._own_state: dict[str, Any] = {}

    async def run(self, ctx: Context, name: str, raw: dict[str, Any]) -> CallAnswer:
        """Return the answer. Raises `MCPError` for an unknown tool."""
        principal, tool = principal_of(ctx), get_tool(name)
        if tool is None:
            await self._workers.run(log_unknown, principal, name, raw, self._access)
            guess = nearest(name, [known.name for known in all_tools()])
            hint = f" (did you mean {guess}?)" if guess else ". Call tools/list for the names."
            raise MCPError(wire.INVALID_PARAMS, f"Unknown tool: {name[:128]}{hint}")
        brief_for = self._brief_for(ctx, principal)
        if not tool.waits:
            enabled = self.enabled_tools(ctx, principal)
            answer = await self.run_quick(principal, name, raw, brief_for, enabled)
            if name == ENABLE_TOOL and not answer.is_error and isinstance(enabled, SessionTools):
                await connection_of(ctx).notify("notifications/tools/list_changed", None)
            return answer
        # The tool may be slow: report its progress, and stop it soon after the client cancels.
        async with follow_call(ctx.session) as follower:
            try:
                return await self._workers.run_waiting(
                    principal.id,
                    answer_call,
                    principal,
                    name,
                    raw,
                    follower,
                    self._access,
                    None,
                    brief_for,
                    self.enabled_tools(ctx, principal),
                )
            except anyio.get_cancelled_exc_class():
                # The call never reached a thread, so it is logged here.
                if not follower.has_begun:
                    # Shielded, because a cancelled task could not wait for the thread.
                    with anyio.CancelScope(shield=True):
                        await self._workers.run(log_refused, principal, name, raw, CANCELLED)
                raise

    def enabled_tools(self, ctx: Context, principal: Principal) -> EnabledTools:
        """Return the tools that the session enabled, or the credential without one."""
        if ctx.request is None:
            return SessionTools(self._own_state)
        if ctx.protocol_version == NEWEST_REVISION:
            return CredentialTools(principal.id)
        return SessionTools(connection_of(ctx).state)

    def _brief_for(self, ctx: Context, principal: Principal) -> BriefSource:
        """Return the source of the brief for an answer to a session, or to a credential without one."""
        if ctx.request is None:  # without HTTP a process has one client
            return self._first_answers.for_session(self._own_state)
        if ctx.protocol_version == NEWEST_REVISION:
            return self._first_answers.for_credential(principal.id)
        return self._first_answers.for_session(connection_of(ctx).state)

    async def run_quick(
        self,
        principal: Principal,
        name: str,
        raw: dict[str, Any],
        brief_for: BriefSource | None = None,
        enabled: EnabledTools | None = None,
    ) -> CallAnswer:
        """Return the answer of a tool that does not wait for other systems.

        Without `brief_for` and `enabled` the call belongs to no session.
        """
        try:
            return await self._workers.run_for(
                principal.id,
                answer_call,
                principal,
                name,
                raw,
                None,
                self._access,
                self._batches,
                brief_for or self._first_answers.for_credential(principal.id),
                enabled,
            )
        finally:
            if self._batches is not None:
                self._batches.wake()


def answer_calls(calls: ToolCalls, server_info: dict[str, Any]) -> ServerMiddleware[Any]:
    """Return a middleware that answers tool calls directly in the wire format.

    The SDK would validate the request twice, and dump, validate and dump each result, which costs
    more than most tools. Invalid calls, and revisions without structured content, are passed to the
    SDK.
    """

    async def answered(ctx: Context, call_next: CallNext) -> HandlerResult:
        params = ctx.params or {}
        name, raw = params.get("name"), params.get("arguments")
        if (
            ctx.method != "tools/call"
            or ctx.protocol_version not in STRUCTURED_REVISIONS
            or not isinstance(name, str)
            or not isinstance(raw, dict | None)
            or (ctx.protocol_version != NEWEST_REVISION and ctx.session.client_params is None)
        ):
            return await call_next(ctx)
        answer = await answer_or_ask(calls, ctx, name, raw or {}, params)
        if ctx.protocol_version == NEWEST_REVISION:
            answer.setdefault("resultType", "complete")
            answer["_meta"] = {**answer.get("_meta", {}), wire.SERVER_INFO_META_KEY: server_info}
        return answer

    return answered


async def answer_or_ask(
    calls: ToolCalls, ctx: Context, name: str, raw: dict[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the wire answer to the call.

    If it needs a decision, ask the person behind the client first, if the client supports it.
    """
    confirmed = elicitation.answer_in(params)
    unconditional = {name: value for name, value in raw.items() if name != EXPECTED_VERSION}
    answer = await calls.run(ctx, name, unconditional if confirmed else raw)
    if confirmed is None and elicitation.can_ask(ctx, answer, raw):
        if ctx.protocol_version == NEWEST_REVISION:
            return elicitation.input_required(answer)
        if await elicitation.ask(ctx, answer):
            answer = await calls.run(ctx, name, unconditional)
    writes_fragments = ctx.request is not None and WRITES_FRAGMENTS_KEY in ctx.request.scope
    return answer.to_wire(orjson.Fragment if writes_fragments else orjson.loads)


class ProtocolServer(Server[Any]):
    """The SDK's server with correct capabilities: changes of tools and resources are announced with a
    feed, changes of prompts never, because only a release changes them.
    """

    def __init__(self, name: str, *, calls: ToolCalls, **given: Any) -> None:
        super().__init__(name, **given)
        self.calls = calls
        self.has_feed = False

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        *given: Any,
        **named: Any,
    ) -> wire.ServerCapabilities:
        options = NotificationOptions(
            tools_changed=self.has_feed, resources_changed=self.has_feed, prompts_changed=False
        )
        capabilities = super().get_capabilities(options, *given, **named)
        if capabilities.prompts is not None:
            capabilities.prompts.list_changed = False
        return capabilities


def build_server(
    access: ServerAccess | None = None,
    feed: ChangeFeed | None = None,
    batches: CallBatches | None = None,
) -> ProtocolServer:
    """Build a server with all registered tools. One per process, for any number of connections.

    With a running feed, clients may follow changes. With running batches, reads are logged shortly
    after their answer.
    """
    load_tools()  # at start, so that the first client does not wait for it
    workers, access = Workers(), access or ServerAccess()
    calls = ToolCalls(workers, access, batches)

    async def list_tools(
        ctx: Context, params: wire.PaginatedRequestParams | None
    ) -> wire.ListToolsResult:
        principal = principal_of(ctx)
        query = b"" if ctx.request is None else ctx.request.scope.get("query_string", b"")
        enabled = calls.enabled_tools(ctx, principal)
        result, state = await workers.run(_tools_of, principal, query, enabled)
        if feed is not None:
            await feed.follow_lists(ctx, principal, tools=state)
        return result

    follow_list = None if feed is None else partial(feed.follow_lists, resource_list=True)

    async def run_tool(ctx: Context, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        return (await calls.run(ctx, params.name, params.arguments or {})).to_result()

    hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="private")
    server = ProtocolServer(
        NAME,
        version=product_version(),
        title="Proofroom",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=run_tool,
        # Without this the SDK runs the complete tools/list for every call of the newest revision.
        get_tool_input_schema=lambda name: (
            None if (tool := get_tool(name)) is None else lean_schema(tool.arguments)
        ),
        cache_hints={
            "tools/list": hint,
            "prompts/list": hint,
            "resources/list": CacheHint(ttl_ms=resources.LIST_TTL_MS, scope="private"),
            "resources/templates/list": hint,
        },
        **resources.handlers(workers, principal_of, access, follow_list),
        **prompts.handlers(),
        on_completion=completion.handler(workers, principal_of, access),
        calls=calls,
    )
    if feed is not None:
        server.has_feed = True
        subscriptions.add_handlers(server, workers, principal_of, feed)
    # The SDK's middleware opens a span for each message, even if no tracer collects them.
    spans = server.middleware if find_tracer() is not None else []
    server.middleware[:] = [
        *spans,
        answer_calls(calls, server.server_info_stamp),
        count_requests(workers, access),
    ]
    return server


def principal_of(ctx: Context) -> Principal:
    """Return the principal the transport accepted for this message. Without HTTP it is the operator."""
    if ctx.request is None:
        return local_principal()
    principal = ctx.request.scope.get(SCOPE_KEY)
    if not isinstance(principal, Principal):
        raise MCPError(wire.INVALID_REQUEST, "This request carries no credential.")
    return principal


def _tools_of(
    principal: Principal, query: bytes, enabled: EnabledTools
) -> tuple[wire.ListToolsResult, frozenset[str]]:
    """Return the list of tools, and its state as `subscriptions` compares it."""
    try:
        actor = actor_for(principal)
    except CmsError as error:
        raise MCPError(wire.INVALID_REQUEST, error.message) from error
    usable = {tool.name: tool for tool in all_tools() if may_use(principal, actor, tool)}
    state = subscriptions.list_state(principal, usable)
    if not is_core(principal, query):
        return wire.ListToolsResult(tools=[*map(tool_description, usable.values())]), state
    names = dict.fromkeys((*CORE_TOOLS, *sorted(enabled.names())))
    listed = [usable[name] for name in names if name in usable]
    # Clients must not answer it from their cache after they enabled a tool.
    return wire.ListToolsResult(tools=[*map(core_description, listed)], ttl_ms=0), state
