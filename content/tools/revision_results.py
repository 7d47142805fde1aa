"""What the tools that read revisions and terms promise to answer. What is optional is left out, never null."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from core.tool_pages import Page
from core.tools import Result


class TermIds(Result):
    post_id: str
    layer: Literal["source", "review", "ai-review"]
    ids: list[str]


class ListedRevision(Result):
    id: str
    layer: Literal["source"]
    reason: str
    by: str
    created_at: str
    changed_paths: list[str]
    agent_id: str | None = None
    version: int | None = None
    note: str | None = None
    run_id: str | None = None


class RevisionPage(Page):
    items: list[ListedRevision]


class ShownChange(Result):
    path: str
    kind: str
    label: str
    before: Any = None
    after: Any = None


class ComparedRevisions(Result):
    from_: str = Field(alias="from")
    to: str


class WholeRevision(ListedRevision):
    """`changes` lead from the older of the `compared` revisions to the newer."""

    post_id: str
    document: dict[str, Any]
    compared: ComparedRevisions | None = None
    changes: list[ShownChange] | None = None
