"""Resources: the same answers as the reading tools, by address, for clients that attach context."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import mcp.types as wire
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from mcp_bridge.calls import call_tool, text_of
from mcp_bridge.credentials import Principal
from mcp_bridge.guidelines import GUIDELINES
from mcp_bridge.threads import Workers

Context = ServerRequestContext[Any, Any]
JSON = "application/json"
MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class _Template:
    """An address with one variable, answered by a tool that takes it as an argument."""

    uri: str
    name: str
    description: str
    tool: str
    argument: str

    def value_in(self, uri: str) -> str | None:
        pattern = re.escape(self.uri).replace(re.escape("{" + self.argument + "}"), "([^/?#]+)")
        found = re.fullmatch(pattern, uri)
        return found[1] if found else None


TEMPLATES = (
    _Template(
        "cms://modules/{type}",
        "module",
        "Schema and guidance of a module.",
        "get_module_schema",
        "type",
    ),
    _Template(
        "cms://posts/{postId}", "post", "A post with its layers.", "get_post_context", "postId"
    ),
)
POST_TYPES = wire.Resource(
    uri="cms://post-types", name="post-types", description="The types of posts.", mime_type=JSON
)
GUIDE = wire.Resource(
    uri="cms://guidelines",
    name="guidelines",
    description="How to propose content well.",
    mime_type=MARKDOWN,
)


class Handlers(TypedDict):
    """What the protocol server takes for resources."""

    on_list_resources: Callable[..., Any]
    on_list_resource_templates: Callable[..., Any]
    on_read_resource: Callable[..., Any]


def handlers(workers: Workers, principal_of: Callable[[Context], Principal]) -> Handlers:
    """The handlers; reading one runs the tool behind it, with the caller's rights and in the call
    log."""

    async def list_resources(ctx: Context, params: object) -> wire.ListResourcesResult:
        return wire.ListResourcesResult(resources=[POST_TYPES, GUIDE])

    async def list_templates(ctx: Context, params: object) -> wire.ListResourceTemplatesResult:
        return wire.ListResourceTemplatesResult(
            resource_templates=[
                wire.ResourceTemplate(
                    uri_template=item.uri,
                    name=item.name,
                    description=item.description,
                    mime_type=JSON,
                )
                for item in TEMPLATES
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


def _behind(uri: str) -> tuple[str, dict[str, str]]:
    if uri == POST_TYPES.uri:
        return "list_post_types", {}
    for template in TEMPLATES:
        value = template.value_in(uri)
        if value is not None:
            return template.tool, {template.argument: value}
    raise MCPError(wire.INVALID_PARAMS, f"No resource has the address {uri[:200]!r}.", {"uri": uri})


def _contents(uri: str, mime: str, text: str) -> wire.ReadResourceResult:
    return wire.ReadResourceResult(
        contents=[wire.TextResourceContents(uri=uri, mime_type=mime, text=text)]
    )
