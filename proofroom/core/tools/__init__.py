"""Tools: what AI clients and agents may call. One registry, one way to read the arguments of a call."""

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
