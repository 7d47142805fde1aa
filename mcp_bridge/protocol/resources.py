"""Resources: the answers of reading tools by URI, for clients that attach context."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import mcp.types as wire
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.protocol.brief import guidelines_for
from mcp_bridge.protocol.prompts import MODULE, POST
from mcp_bridge.protocol.tool_calls import ERROR_META, call_tool, result_text
from mcp_bridge.worker_threads import Workers
from proofroom.core.errors import NotAllowed

Context = ServerRequestContext[Any, Any]
JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
POSTS_ON_A_PAGE: Final = 50
LIST_TTL_MS: Final = 30_000
"""Short, because the list contains posts."""
_MAX_SHOWN_LENGTH: Final = 200
_VARIABLE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ResourceSource:
    """A URI, with at most one `{variable}` of a `kind`, answered by a tool that takes it as `argument`."""

    uri: str
    name: str
    title: str
    description: str
    tool: str
    argument: str = ""
    kind: str = ""

    @property
    def variable(self) -> str:
        found = _VARIABLE.search(self.uri)
        return found[1] if found else ""

    def arguments_of(self, uri: str) -> dict[str, str] | None:
        """Return the tool's arguments for a URI; None if the URI does not match."""
        # `re.escape` also escapes the braces of a variable.
        pattern = re.sub(r"\\\{\w+\\\}", "([^/?#]+)", re.escape(self.uri))
        found = re.fullmatch(pattern, uri)
        if found is None:
            return None
        return {self.argument: found[1]} if self.argument else {}


GUIDE: Final = wire.Resource(
    uri="cms://guidelines",
    name="guidelines",
    title="Guidelines",
    description="How to propose content well, and how this site writes. Read it before the first proposal.",
    mime_type=MARKDOWN,
)
FIXED: tuple[ResourceSource, ...] = (
    ResourceSource(
        "cms://post-types",
        "post-types",
        "Post types",
        "The types of posts, with their module groups.",
        "list_post_types",
    ),
)
TEMPLATES: tuple[ResourceSource, ...] = (
    ResourceSource(
        "cms://modules/{type}",
        "module",
        "Module type",
        "Schema and guidance of a module type.",
        "get_module_schema",
        "type",
        MODULE,
    ),
    ResourceSource(
        "cms://posts/{id}",
        "post",
        "Post",
        "A post with what is live and what is staged.",
        "get_post_context",
        "postId",
        POST,
    ),
)


class ResourceHandlers(TypedDict):
    """The handlers of the protocol server for resources."""

    on_list_resources: Callable[..., Any]
    on_list_resource_templates: Callable[..., Any]
    on_read_resource: Callable[..., Any]


def handlers(
    workers: Workers,
    principal_of: Callable[[Context], Principal],
    access: ServerAccess,
    follow_list: Callable[[Context, Principal], Awaitable[None]] | None = None,
) -> ResourceHandlers:
    """Return the handlers. Answers come from tools, with the caller's permissions, and are logged.

    `follow_list` is called for clients that read the list and may follow its changes.
    """

    async def list_resources(
        ctx: Context, params: wire.PaginatedRequestParams | None
    ) -> wire.ListResourcesResult:
        cursor = params.cursor if params else None
        principal = principal_of(ctx)
        page = await workers.run(list_resources_page, principal, cursor, access)
        if follow_list is not None:
            await follow_list(ctx, principal)
        return page

    async def list_templates(ctx: Context, params: object) -> wire.ListResourceTemplatesResult:
        return wire.ListResourceTemplatesResult(
            resource_templates=[
                wire.ResourceTemplate(
                    uri_template=source.uri,
                    name=source.name,
                    title=source.title,
                    description=source.description,
                    mime_type=JSON,
                )
                for source in TEMPLATES
            ]
        )

    async def read(ctx: Context, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
        uri = str(params.uri)
        if uri == GUIDE.uri:
            return _contents(uri, MARKDOWN, await workers.run(guidelines_for, principal_of(ctx)))
        calls = ((one.tool, one.arguments_of(uri)) for one in (*FIXED, *TEMPLATES))
        tool, arguments = next(
            ((tool, found) for tool, found in calls if found is not None), ("", {})
        )
        if not tool:
            known = ", ".join([GUIDE.uri, *(source.uri for source in (*FIXED, *TEMPLATES))])
            message = f"No resource has the address {uri[:_MAX_SHOWN_LENGTH]!r}. Known: {known}."
            raise MCPError(wire.INVALID_PARAMS, message, {"uri": uri})
        result = await workers.run(call_tool, principal_of(ctx), tool, arguments, access=access)
        if result.is_error:
            raise MCPError(wire.INVALID_PARAMS, result_text(result), {"uri": uri})
        return _contents(uri, JSON, result_text(result))

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
    }


def find_template(uri: str) -> ResourceSource:
    """Return the template with exactly that URI. Raises `MCPError`."""
    for template in TEMPLATES:
        if template.uri == uri:
            return template
    known = ", ".join(template.uri for template in TEMPLATES)
    raise MCPError(wire.INVALID_PARAMS, f"Unknown template: {uri[:100]}. Known: {known}.")


def list_resources_page(
    principal: Principal, cursor: str | None, access: ServerAccess
) -> wire.ListResourcesResult:
    """Return the fixed resources, then the posts the caller may list, latest change first."""
    arguments = {"limit": POSTS_ON_A_PAGE} | ({} if cursor is None else {"cursor": cursor})
    answer = call_tool(principal, "list_posts", arguments, access=access)
    error: dict[str, str] = (answer.meta or {}).get(ERROR_META, {})
    # Callers who may not list posts still get the fixed resources.
    if answer.is_error and error.get("code") != NotAllowed.code:
        raise MCPError(wire.INVALID_PARAMS, result_text(answer))
    page: Any = answer.structured_content or {"items": []}
    fixed = [
        wire.Resource(
            uri=source.uri,
            name=source.name,
            title=source.title,
            description=source.description,
            mime_type=JSON,
        )
        for source in FIXED
    ]
    posts = [
        wire.Resource(
            uri=f"cms://posts/{row['id']}",
            name=row["slug"],
            title=row["title"],
            description=f"{row['type']}, {row['locale']}, {row['status']}",
            mime_type=JSON,
        )
        for row in page["items"]
    ]
    first = [GUIDE, *fixed] if cursor is None else []
    return wire.ListResourcesResult(resources=[*first, *posts], next_cursor=page.get("nextCursor"))


def is_answered_by_tool(uri: str) -> bool:
    """Return True if a tool answers the resource at the URI."""
    return any(source.arguments_of(uri) is not None for source in (*FIXED, *TEMPLATES))


def _contents(uri: str, mime: str, text: str) -> wire.ReadResourceResult:
    return wire.ReadResourceResult(
        contents=[wire.TextResourceContents(uri=uri, mime_type=mime, text=text)]
    )
