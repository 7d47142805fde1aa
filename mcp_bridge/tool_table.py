"""The table of tools in the documentation, made from the registry."""

from __future__ import annotations

from typing import Final

from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel

from core.tools import Tool, all_tools
from core.tools.arguments import signature

BEGIN: Final = "<!-- tools: written by `manage.py dump_mcp_context --table` -->"
END: Final = "<!-- end of tools -->"
_KINDS: Final = {
    "read": "reads",
    "stage": "stages",
    "remove": "takes away",
    "open": "reaches outside",
}


def tool_table() -> str:
    """Every registered tool as a Markdown table, by group."""
    autodiscover_modules("tools")
    rows = sorted(all_tools(), key=lambda tool: (tool.group, tool.name))
    return "\n".join(["| tool | what it does | |", "|---|---|---|", *(_row(row) for row in rows)])


def _row(tool: Tool[BaseModel]) -> str:
    text = tool.description.replace("|", "\\|")
    return f"| `{signature(tool)}` | {text} | {_KINDS[tool.kind]} |"


def with_table(page: str) -> str:
    """The page with the table between its two marks. Raises `ValueError` where a mark is missing."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}")
    return f"{head}{BEGIN}\n\n{tool_table()}\n\n{END}{tail}"
