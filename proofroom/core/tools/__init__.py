"""Tools that AI clients and agents may call: their registry and the parsing of their arguments."""

from __future__ import annotations

from proofroom.core.tools.registry import (
    Arguments,
    Kind,
    NoArguments,
    Result,
    Tool,
    all_tools,
    get_tool,
    load_tools,
    tool,
)

__all__ = [
    "Arguments",
    "Kind",
    "NoArguments",
    "Result",
    "Tool",
    "all_tools",
    "get_tool",
    "load_tools",
    "tool",
]
