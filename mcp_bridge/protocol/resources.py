"""Resources: the same answers as the reading tools, by address, for clients that attach context."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import mcp.types as wire
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from core.errors import NotAllowed
from mcp_bridge.access.credentials import Principal
from mcp_bridge.calls import ERROR_META, call_tool, text_of
from mcp_bridge.protocol.guidelines import GUIDELINES
from mcp_bridge.protocol.prompt_arguments import MODULE, POST
from mcp_bridge.protocol.threads import Workers

Context = ServerRequestContext[Any, Any]
JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
POSTS_ON_A_PAGE: Final = 50
LIST_TTL_MS: Final = 30_000
"""The list holds posts, which come and go."""
_SHOWN: Final = 200
_VARIABLE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Source:
    """An address, perhaps with one `{variable}` of some `kind`, answered by a tool that takes it as `argument`."""

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
        """What the tool is asked for this address; None for the address of something else."""
        pattern = re.sub(r"\\\{\w+\\\}", "([^/?#]+)", re.escape(self.uri))
        found = re.fullmatch(pattern, uri)
        if found is None:
            return None
        return {self.argument: found[1]} if self.argument else {}


GUIDE: Final = wire.Resource(
    uri="cms://guidelines",
    name="guidelines",
    title="Guidelines",
    description="How to propose content well. Read it before the first proposal.",
    mime_type=MARKDOWN,
)
FIXED: tuple[Source, ...] = (
    Source(
        "cms://post-types",
        "post-types",
        "Post types",
        "The types of posts, with their module groups.",
        "list_post_types",
    ),
)
TEMPLATES: tuple[Source, ...] = (
    Source(
        "cms://modules/{type}",
        "module",
        "Module type",
        "Schema and guidance of a module type.",
        "get_module_schema",
        "type",
        MODULE,
    ),
    Source(
        "cms://posts/{id}",
        "post",
        "Post",
        "A post with what is live and what is staged.",
        "get_post_context",
        "postId",
        POST,
    ),
)


class Handlers(TypedDict):
    """What the protocol server takes for resources."""

    on_list_resources: Callable[..., Any]
    on_list_resource_templates: Callable[..., Any]
    on_read_resource: Callable[..., Any]


def handlers(workers: Workers, principal_of: Callable[[Context], Principal]) -> Handlers:
    """The handlers; what they answer comes from a tool, with the caller's rights and in the call log."""

    async def list_resources(
        ctx: Context, params: wire.PaginatedRequestParams | None
    ) -> wire.ListResourcesResult:
        cursor = params.cursor if params else None
        return await workers.run(_listed, principal_of(ctx), cursor)

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
            return _contents(uri, MARKDOWN, GUIDELINES)
        tool, arguments = _behind(uri)
        result = await workers.run(call_tool, principal_of(ctx), tool, arguments)
        if result.is_error:
            raise MCPError(wire.INVALID_PARAMS, text_of(result), {"uri": uri})
        return _contents(uri, JSON, text_of(result))

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
    }


def find_template(uri: str) -> Source:
    """The template of exactly that text. Raises `MCPError`."""
    for template in TEMPLATES:
        if template.uri == uri:
            return template
    known = ", ".join(template.uri for template in TEMPLATES)
    raise MCPError(wire.INVALID_PARAMS, f"Unknown template: {uri[:100]}. Known: {known}.")


def _listed(principal: Principal, cursor: str | None) -> wire.ListResourcesResult:
    """The fixed ones, then the posts that the caller may list, the latest change first."""
    arguments = {"limit": POSTS_ON_A_PAGE} | ({} if cursor is None else {"cursor": cursor})
    answer = call_tool(principal, "list_posts", arguments)
    if answer.is_error and not _is_refusal(answer):
        raise MCPError(wire.INVALID_PARAMS, text_of(answer))
    page: Any = answer.structured_content or {"items": []}
    fixed = [GUIDE, *map(_wire, FIXED)] if cursor is None else []
    return wire.ListResourcesResult(
        resources=[*fixed, *map(_post, page["items"])], next_cursor=page.get("nextCursor")
    )


def _is_refusal(answer: wire.CallToolResult) -> bool:
    told: dict[str, str] = (answer.meta or {}).get(ERROR_META, {})
    return told.get("code") == NotAllowed.code


def _wire(source: Source) -> wire.Resource:
    return wire.Resource(
        uri=source.uri,
        name=source.name,
        title=source.title,
        description=source.description,
        mime_type=JSON,
    )


def _post(row: Mapping[str, str]) -> wire.Resource:
    return wire.Resource(
        uri=f"cms://posts/{row['id']}",
        name=row["slug"],
        title=row["title"],
        description=f"{row['type']}, {row['locale']}, {row['status']}",
        mime_type=JSON,
    )


def is_call(uri: str) -> bool:
    """Whether a tool is called for what stands at the address."""
    return any(source.arguments_of(uri) is not None for source in (*FIXED, *TEMPLATES))


def _behind(uri: str) -> tuple[str, dict[str, str]]:
    for source in (*FIXED, *TEMPLATES):
        arguments = source.arguments_of(uri)
        if arguments is not None:
            return source.tool, arguments
    known = ", ".join([GUIDE.uri, *(source.uri for source in (*FIXED, *TEMPLATES))])
    message = f"No resource has the address {uri[:_SHOWN]!r}. Known: {known}."
    raise MCPError(wire.INVALID_PARAMS, message, {"uri": uri})


def _contents(uri: str, mime: str, text: str) -> wire.ReadResourceResult:
    return wire.ReadResourceResult(
        contents=[wire.TextResourceContents(uri=uri, mime_type=mime, text=text)]
    )
