"""Results of tools whose shape is stable. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Literal

from proofroom.core.tools import Result
from proofroom.core.tools.pagination import ToolPage


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
