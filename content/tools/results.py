"""Results of tools whose shape is stable. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from content.post_fields import LISTED_FIELDS
from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


def _describe_listed(schema: dict[str, Any]) -> None:
    schema["properties"] |= {field.name: {"type": "string"} for field in LISTED_FIELDS}


class ListedPost(Result):
    """A post in a list, with the declared fields that lists answer."""

    model_config = ConfigDict(json_schema_extra=_describe_listed)

    id: str
    type: str
    locale: str
    slug: str
    title: str
    status: str
    url: str
    updated_at: str
    layers: list[str]
    proposed_title: str | None = None
    version: int | None = None
    parent_id: str | None = None
    order_index: int | None = None
    featured_media_id: str | None = None
    created_at: str | None = None
    published_at: str | None = None
    staged: dict[str, Any] | None = None


class PostPage(ToolPage):
    items: list[ListedPost]


class Authored(Result):
    """`author` is who the staged values are recorded for, where it is another than the one the call named."""

    author: str | None = None
    note: str | None = None


class StagedResult(Authored):
    """`staged` are the paths that this call changed; `version` is that of the draft."""

    post_id: str
    layer: Literal["ai-review"]
    version: int
    staged: list[str]


class StagedModuleResult(StagedResult):
    post_module_id: str


class SeededModule(Result):
    post_module_id: str
    type: str
    order_index: int
    locked: bool


class AppliedEdit(Result):
    ok: bool
    post_module_id: str | None = None
    error: str | None = None


class CreatedPost(StagedResult):
    locale: str
    slug: str
    seeded_modules: list[SeededModule]
    applied_module_edits: list[AppliedEdit]


class HeldBack(Result):
    path: str
    review: Any
    ai_review: Any


class SubmittedResult(Authored):
    post_id: str
    layer: Literal["review"]
    submitted: list[str]
    conflicts: list[HeldBack]


class MadePreviewLink(Result):
    id: str
    url: str
    expires_at: str


class ListedPreviewLink(Result):
    id: str
    layer: Literal["source", "review", "ai-review"]
    expires_at: str
    created_by: str
    views: int
    created_at: str | None = None


class PreviewLinkPage(ToolPage):
    items: list[ListedPreviewLink]


class RevokedPreviewLink(Result):
    revoked: bool
