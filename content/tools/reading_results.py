"""Results of the tools that read posts and revisions. Optional keys are left out, never null."""

from __future__ import annotations

from typing import Literal

from proofroom.core.tools import Result


class TermIds(Result):
    post_id: str
    layer: Literal["source", "review", "ai-review"]
    ids: list[str]
