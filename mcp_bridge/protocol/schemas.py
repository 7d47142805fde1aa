"""A tool of the registry as the MCP client sees it: a lean JSON Schema, a title and the four hints."""

from __future__ import annotations

import mcp.types as wire
from pydantic import BaseModel

from core.tools import Tool
from core.tools.schemas import lean_schema, result_schema


def wire_tool(tool: Tool[BaseModel]) -> wire.Tool:
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
