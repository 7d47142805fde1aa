"""Notifications of changes to clients, limited to what their credential may see.

The source is the table of events, so changes made by any process reach the clients of all
processes. The newest revision uses `subscriptions/listen`, whose response is the stream. Older ones
use `resources/subscribe`, and are notified of list changes after they have read the list.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from uuid import UUID

import anyio
import mcp.types as wire
from anyio.abc import TaskGroup
from django.conf import settings
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
    event_to_notification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from content.store.post_queries import reachable_posts
from content.store.scopes import visible_to
from mcp_bridge.access.principals import Principal, actor_for, may_use
from mcp_bridge.access.server_access import CHANNEL as ACCESS_CHANNEL
from mcp_bridge.access.tool_sets import CredentialTools
from mcp_bridge.protocol import resources
from mcp_bridge.worker_threads import Workers
from proofroom.briefs.services import VIEW as BRIEF_VIEW
from proofroom.core.actor import Actor
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.database_notifications import Subscription, is_listening, listen
from proofroom.core.errors import CmsError
from proofroom.core.outbox.events import EVENTS_CHANNEL
from proofroom.core.realtime.event_tail import Tail
from proofroom.core.realtime.messages import EventMessage, IsOutside, find_outside, may_hear_of
from proofroom.core.tools import all_tools, get_tool

logger = logging.getLogger("mcp_bridge")
Context = ServerRequestContext[Any, Any]
MAX_RESOURCES: Final = 100
"""Maximum resources one client may follow."""
MAX_SUBSCRIBERS: Final = 2000
MAX_SUBSCRIBERS_PER_CREDENTIAL: Final = 600
PAUSE_SECONDS: Final = 0.2
"""Seconds between two reads, so that many changes become one notification."""
LOOK_SECONDS: Final = 5.0
"""Seconds between two reads without a database notification."""
ACCESS_SECONDS: Final = 2.0
"""Seconds between two checks of callers' tools, if changes are not notified."""
_POST_TYPES: Final = "cms://post-types"
_POSTS: Final = "cms://posts/"
_MAX_SHOWN_LENGTH: Final = 200
_MAX_URI_LENGTH: Final = 300
"""Maximum length of a URI, longer than every URI of a resource."""
LIST_EVENTS: Final = frozenset(
    {
        "post.created",
        "post.create-translation",
        "post.published",
        "post.moved",
        "post.deleted",
        "post.restored",
        "content.imported",
        "archive.imported",
    }
)
"""Events that may change the list of resources."""
UNCHANGED_EVENTS: Final = frozenset(
    {
        "post.exported",
        "post.preview-link.created",
        "post.preview-link.revoked",
        "post.reviewer-link.created",
        "post.reviewer-link.revoked",
        "post.reviewer-advice.given",
    }
)
"""Events of a post that do not change it."""


class SubscribedClient:
    """One client and its pending notifications, each only once."""

    def __init__(
        self,
        principal: Principal,
        *,
        tools: bool = False,
        resource_list: bool = False,
        uris: Iterable[str] = (),
    ) -> None:
        self.principal = principal
        self.wants_tools = tools
        self.wants_resource_list = resource_list
        self.uris = set(uris)
        self.known_tools: frozenset[str] | None = None
        """The tools that it could use when it was last looked."""
        self._waiting: dict[ServerEvent, None] = {}
        self._news = anyio.Event()

    def add(self, events: Iterable[ServerEvent]) -> None:
        for event in events:
            self._waiting[event] = None
            self._news.set()

    async def forward(self, send: Callable[[ServerEvent], Awaitable[None]]) -> None:
        """Send notifications until cancelled."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            while self._waiting:
                event = next(iter(self._waiting))
                del self._waiting[event]
                await send(event)


class ChangeFeed:
    """The subscribers of one process. Reads while there are any, with one query for all of them."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._subscribers: set[SubscribedClient] = set()
        self._of: Counter[str] = Counter()
        self._tail: Tail | None = None
        self._starting = anyio.Lock()
        self._wake = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._listening: Sequence[Subscription] = ()
        self._has_access_changed = False
        self._look_at_access_at = 0.0
        self._is_failing = False

    @property
    def count(self) -> int:
        return len(self._subscribers)

    async def run(self) -> None:
        """Read changes and notify, until cancelled."""
        loop = asyncio.get_running_loop()

        def wake(*_: str, access: bool = False) -> None:
            with suppress(RuntimeError):  # the loop and the server have ended
                loop.call_soon_threadsafe(self._note_change, access)

        self._listening = [
            listen(EVENTS_CHANNEL, wake, lost=wake),
            listen(ACCESS_CHANNEL, partial(wake, access=True), lost=partial(wake, access=True)),
        ]
        try:
            async with anyio.create_task_group() as self._tasks:
                while True:
                    if not self._subscribers:
                        self._tail = None  # the next subscriber starts with the changes after it
                        await self._wait(None)
                    await self._look()
                    await anyio.sleep(min(PAUSE_SECONDS, settings.LIVE_POLL_SECONDS))
                    quiet = is_listening() and not self._is_failing
                    await self._wait(LOOK_SECONDS if quiet else settings.LIVE_POLL_SECONDS)
        finally:
            self._tasks = None
            for subscription in self._listening:
                subscription.close()

    async def join(self, subscriber: SubscribedClient) -> None:
        """Notify the client of changes from now on. Raises `MCPError` if there are too many subscribers."""
        key = subscriber.principal.id
        if self.count >= MAX_SUBSCRIBERS or self._of[key] >= MAX_SUBSCRIBERS_PER_CREDENTIAL:
            message = "Too many clients of this server follow changes already. Try again later."
            raise MCPError(wire.INVALID_REQUEST, message, {"code": "too_many_subscriptions"})
        self._subscribers.add(subscriber)
        self._of[key] += 1
        try:
            # Two clients that join at once must share one tail.
            async with self._starting:
                if self._tail is None:
                    tail = Tail()
                    await self._workers.run(tail.read)
                    # Assigned after the first read, so that a failed read leaves none
                    # half-initialized.
                    self._tail = tail
            if subscriber.wants_tools and subscriber.known_tools is None:
                subscriber.known_tools = await self._workers.run(usable_tools, subscriber.principal)
        except BaseException:
            self.leave(subscriber)
            raise
        self._wake.set()

    def leave(self, subscriber: SubscribedClient) -> None:
        if subscriber in self._subscribers:
            self._subscribers.discard(subscriber)
            self._of[subscriber.principal.id] -= 1
            self._of += Counter()  # remove zero counts

    async def follow_session(
        self, connection: Connection, principal: Principal
    ) -> SubscribedClient:
        """Return the subscriber of a session of an older revision, which is notified until the session ends."""
        found: SubscribedClient | None = connection.state.get("cms.subscriber")
        if found is not None:
            return found
        subscriber = SubscribedClient(principal)
        connection.state["cms.subscriber"] = subscriber
        try:
            await self.join(subscriber)
        except BaseException:
            del connection.state["cms.subscriber"]
            raise
        ended = anyio.CancelScope()

        async def send(event: ServerEvent) -> None:
            notification = event_to_notification(event, {})
            params = notification.params
            payload = (
                params.model_dump(by_alias=True, mode="json", exclude_none=True) if params else {}
            )
            payload.pop("_meta", None)
            await connection.notify(notification.method, payload or None)

        async def tell() -> None:
            with ended:
                await subscriber.forward(send)

        def stop() -> None:
            self.leave(subscriber)
            ended.cancel()

        connection.exit_stack.callback(stop)
        if self._tasks is not None:
            self._tasks.start_soon(tell)
        return subscriber

    async def follow_lists(
        self,
        ctx: Context,
        principal: Principal,
        *,
        tools: frozenset[str] | None = None,
        resource_list: bool = False,
    ) -> None:
        """Notify a session of an older revision that read a list when the list changes, if there is room for it."""
        connection = connection_of(ctx)
        if (
            ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            or not connection.has_standalone_channel
        ):
            return
        with suppress(MCPError):
            subscriber = await self.follow_session(connection, principal)
            subscriber.wants_resource_list = subscriber.wants_resource_list or resource_list
            if tools is not None:
                subscriber.wants_tools, subscriber.known_tools = True, tools

    def _note_change(self, access: bool) -> None:
        self._has_access_changed = self._has_access_changed or access
        self._wake.set()

    async def _wait(self, seconds: float | None) -> None:
        with anyio.move_on_after(seconds):
            await self._wake.wait()
        self._wake = anyio.Event()

    async def _look(self) -> None:
        """Read new events and pass them to the subscribers that may see them."""
        tail, subscribers = self._tail, list(self._subscribers)
        if tail is None or not subscribers:
            return
        # Without database notifications, changes of access must be polled.
        is_due = not is_listening() and time.monotonic() >= self._look_at_access_at
        has_access_changed = self._has_access_changed or is_due
        self._has_access_changed = False
        if has_access_changed:
            self._look_at_access_at = time.monotonic() + ACCESS_SECONDS
        try:
            found = await self._workers.run(read_changes, tail, subscribers, has_access_changed)
            self._is_failing = False
        except Exception:  # a short database outage must not end subscriptions
            self._has_access_changed = True
            if not self._is_failing:
                logger.exception(
                    "MCP clients get no notifications of changes until this works again"
                )
            self._is_failing = True
            return
        for subscriber, events in found.items():
            subscriber.add(events)


def read_changes(
    tail: Tail, subscribers: Collection[SubscribedClient], has_access_changed: bool
) -> dict[SubscribedClient, list[ServerEvent]]:
    """Return the changes for each subscriber.

    One query for the events; if there are any, one for each visibility rule and the queries of each
    interested credential. An error of one subscriber does not affect the others.
    """
    events = [event for event in tail.read() if changes_of(event)]
    wanted = {event for one in events for event in changes_of(one)}
    may_hear = may_hear_of(events, ())
    posts = {event.post_id for event in events if event.post_id is not None}
    actors: dict[Principal, Actor | None] = {}
    outside: dict[Principal, IsOutside] = {}
    tools: dict[Principal, frozenset[str]] = {}
    found: dict[SubscribedClient, list[ServerEvent]] = {}

    def look_for(subscriber: SubscribedClient) -> None:
        principal = subscriber.principal
        if has_access_changed and subscriber.wants_tools:
            if principal not in tools:
                tools[principal] = usable_tools(principal)
            if tools[principal] != subscriber.known_tools:
                subscriber.known_tools = tools[principal]
                found.setdefault(subscriber, []).append(ToolsListChanged())
        of_resources = {
            event
            for event in wanted
            if (isinstance(event, ResourcesListChanged) and subscriber.wants_resource_list)
            or (isinstance(event, ResourceUpdated) and event.uri in subscriber.uris)
        }
        if not of_resources:
            return
        if principal not in actors:
            actor = actors[principal] = actor_or_none(principal)
            outside[principal] = find_outside(posts, [actor] if actor else [])
        actor = actors[principal]
        if actor is None:
            return
        for event in events:
            if event.post_id is not None and outside[principal](actor, event.post_id):
                continue
            for change in changes_of(event):
                # A list change, and the move of a post to the trash, reveal nothing about the post.
                is_open = isinstance(change, ResourcesListChanged) or event.name == "post.deleted"
                if (
                    change in of_resources
                    and (is_open or may_hear(actor.user, event))
                    and may_read(principal, actor, change)
                ):
                    found.setdefault(subscriber, []).append(change)

    for subscriber in subscribers:
        try:
            look_for(subscriber)
        # It affects all subscribers, so the whole read is repeated later.
        except DATABASE_UNREACHABLE:
            raise
        except Exception:
            logger.exception("Cannot notify an MCP client of changes")
    return found


def changes_of(event: EventMessage) -> list[ServerEvent]:
    """Return the resource changes of an event."""
    changes: list[ServerEvent] = []
    if event.post_id is not None and event.name.startswith("post."):
        if event.name not in UNCHANGED_EVENTS:
            changes.append(ResourceUpdated(f"{_POSTS}{event.post_id}"))
    elif event.name.startswith("brief."):
        changes.append(ResourceUpdated(resources.GUIDE.uri))
    elif event.name.startswith("module-group."):
        changes.append(ResourceUpdated(_POST_TYPES))
    if event.name in LIST_EVENTS:
        changes.append(ResourcesListChanged())
    return changes


def may_read(principal: Principal, actor: Actor, change: ServerEvent) -> bool:
    """Return True if the caller may use the tool that answers the changed resource."""
    name = "list_posts"
    if isinstance(change, ResourceUpdated) and change.uri == resources.GUIDE.uri:
        # Everyone may read the guidelines, but not everyone the brief in them.
        return actor.can(BRIEF_VIEW)
    if isinstance(change, ResourceUpdated):
        name = "get_post_context" if change.uri.startswith(_POSTS) else "list_post_types"
    tool = get_tool(name)
    return tool is not None and may_use(principal, actor, tool)


def usable_tools(principal: Principal) -> frozenset[str]:
    """Return the state of the caller's list of tools now."""
    actor = actor_or_none(principal)
    if actor is None:
        return frozenset()
    return list_state(
        principal, (tool.name for tool in all_tools() if may_use(principal, actor, tool))
    )


def list_state(principal: Principal, usable: Iterable[str]) -> frozenset[str]:
    """Return what decides on a list of tools besides a session: the usable tools, and the tools that the credential
    enabled with a plus sign."""
    return frozenset(usable) | {f"+{name}" for name in CredentialTools(principal.id).names()}


def actor_or_none(principal: Principal) -> Actor | None:
    try:
        return actor_for(principal)
    except CmsError:
        return None


def readable_uris(principal: Principal, uris: Iterable[str]) -> list[str]:
    """Return the URIs the caller may read now, in the form used by notifications."""
    actor = actor_or_none(principal)
    if actor is None:
        return []
    posts: dict[str, UUID] = {}
    readable: list[str] = []
    for uri in dict.fromkeys(uris):
        if len(uri) > _MAX_URI_LENGTH:
            continue
        if uri.startswith(_POSTS):
            with suppress(ValueError):
                posts[uri] = UUID(uri.removeprefix(_POSTS))
        elif uri == resources.GUIDE.uri or _is_answered(principal, actor, uri):
            readable.append(uri)
    if posts and may_read(principal, actor, ResourceUpdated(_POSTS)):
        visible_posts = visible_to(reachable_posts().filter(pk__in=posts.values()), actor)
        visible = set(visible_posts.values_list("pk", flat=True))
        readable += [uri for uri, pk in posts.items() if pk in visible and uri == f"{_POSTS}{pk}"]
    return readable


def _is_answered(principal: Principal, actor: Actor, uri: str) -> bool:
    for source in (*resources.FIXED, *resources.TEMPLATES):
        tool = get_tool(source.tool)
        if source.arguments_of(uri) is not None and tool is not None:
            return may_use(principal, actor, tool)
    return False


def add_handlers(
    server: Server[Any],
    workers: Workers,
    principal_of: Callable[[Context], Principal],
    feed: ChangeFeed,
) -> None:
    """Register the handlers for notifications of the feed."""

    async def subscribe(ctx: Context, params: wire.SubscribeRequestParams) -> wire.EmptyResult:
        principal, uri = principal_of(ctx), str(params.uri)
        if not await workers.run(readable_uris, principal, [uri]):
            message = f"No resource has the address {uri[:_MAX_SHOWN_LENGTH]!r}."
            raise MCPError(wire.INVALID_PARAMS, message, {"uri": uri[:_MAX_SHOWN_LENGTH]})
        subscriber = await feed.follow_session(connection_of(ctx), principal)
        if uri not in subscriber.uris and len(subscriber.uris) >= MAX_RESOURCES:
            raise too_many_resources()
        subscriber.uris.add(uri)
        return wire.EmptyResult()

    async def unsubscribe(ctx: Context, params: wire.UnsubscribeRequestParams) -> wire.EmptyResult:
        subscriber: SubscribedClient | None = connection_of(ctx).state.get("cms.subscriber")
        if subscriber is not None:
            subscriber.uris.discard(str(params.uri))
        return wire.EmptyResult()

    async def listen_to(
        ctx: Context, params: wire.SubscriptionsListenRequestParams
    ) -> wire.SubscriptionsListenResult:
        principal, asked = principal_of(ctx), params.notifications
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))
        if len(uris) > MAX_RESOURCES:
            raise too_many_resources()
        if ctx.request_id is None:
            raise MCPError(wire.INVALID_REQUEST, "subscriptions/listen needs a request id.")
        readable = await workers.run(readable_uris, principal, uris) if uris else []
        subscriber = SubscribedClient(
            principal,
            tools=asked.tools_list_changed is True,
            resource_list=asked.resources_list_changed is True,
            uris=readable,
        )
        honored = wire.SubscriptionFilter(
            tools_list_changed=subscriber.wants_tools or None,
            resources_list_changed=subscriber.wants_resource_list or None,
            resource_subscriptions=readable or None,
        )
        meta = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        await feed.join(subscriber)

        async def send(event: ServerEvent) -> None:
            notification = event_to_notification(event, meta)
            await ctx.session.send_notification(notification, related_request_id=ctx.request_id)

        try:
            acknowledged = wire.SubscriptionsAcknowledgedNotificationParams(
                notifications=honored, _meta=meta
            )
            await ctx.session.send_notification(
                wire.SubscriptionsAcknowledgedNotification(params=acknowledged),
                related_request_id=ctx.request_id,
            )
            await subscriber.forward(send)
        finally:
            feed.leave(subscriber)
        return wire.SubscriptionsListenResult(_meta=meta)

    server.add_request_handler("resources/subscribe", wire.SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", wire.UnsubscribeRequestParams, unsubscribe)
    server.add_request_handler(
        "subscriptions/listen", wire.SubscriptionsListenRequestParams, listen_to
    )


def too_many_resources() -> MCPError:
    message = f"One client follows at most {MAX_RESOURCES} resources."
    return MCPError(wire.INVALID_PARAMS, message, {"code": "too_many_subscriptions"})


def connection_of(ctx: Context) -> Connection:
    """Return the connection of a request, for notifications that belong to no request. The SDK has no
    public API for it.
    """
    return ctx.session._connection
