"""Results of the tools that read posts and revisions. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


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


class RevisionPage(ToolPage):
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


class NamedTranslation(Result):
    id: str
    locale: str


class ContextModule(Result):
    """`props` is null for a module that is not live."""

    post_module_id: str
    type: str
    props: Any
    order_index: int | None = None
    removed: bool | None = None
    locked: bool | None = None
    scope: str | None = None
    global_slug: str | None = None


class RejectedBefore(Result):
    at: str
    by: str
    note: str
    same: bool | None = None


class StagedChange(Result):
    path: str
    kind: str
    by: str | None = None
    conflict: bool | None = None
    rejected_before: list[RejectedBefore] | None = None


class StagedChanges(Result):
    version: int
    changes: list[StagedChange]


class PostContextResult(Result):
    post: dict[str, Any]
    modules: list[ContextModule]
    taxonomy_term_ids: list[str]
    translations: list[NamedTranslation]
    allowed_modules: list[str]
    review: StagedChanges
    ai_review: StagedChanges


class Document(Result):
    schema_version: int
    post: dict[str, Any]
    taxonomy_term_ids: list[str]
    modules: list[dict[str, Any]]


class Manifest(Document):
    post_id: str
    layer: Literal["source", "review", "ai-review"]


class CanonicalPost(Document):
    translations: list[NamedTranslation]
