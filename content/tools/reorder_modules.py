"""The tool that stages another order of modules."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from content.document.document import PostDocument
from content.rules.modules import MODULES_MAX
from content.store import document_edits
from content.tools.arguments import PostReference, Proposal
from content.tools.stage_changes import StagedResult, stage_proposal
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.tools import tool

_MAX_NAMED: Final = 20
"""Maximum number of modules of each kind that an error names."""


class ReorderModules(Proposal):
    post: PostReference
    order: Annotated[list[str], Field(min_length=1, max_length=MODULES_MAX)]


@tool(
    title="Stage the order of modules",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    idempotent=True,
    result=StagedResult,
)
def reorder_modules(actor: Actor, arguments: ReorderModules) -> JsonObject:
    """Stage the order of all modules of a post in AI Review, as postModuleIds. Locked modules keep their place."""
    order = [id_.lower() for id_ in arguments.order]

    def edit(document: PostDocument) -> PostDocument:
        _require_complete(order, document)
        return document_edits.reorder_modules(document, order)

    return stage_proposal(actor, arguments, arguments.post, edit)


def _require_complete(order: list[str], document: PostDocument) -> None:
    """Raise `RuleViolation` (`incomplete_order`) unless the order names every module of AI Review once."""
    missing = [id_ for id_ in document.order if id_ not in order]
    unknown = [id_ for id_ in dict.fromkeys(order) if id_ not in document.order]
    repeated = sorted({id_ for id_ in order if order.count(id_) > 1})
    if not (missing or unknown or repeated):
        return
    parts = [
        f"{what}: {', '.join(id_[:80] for id_ in ids[:_MAX_NAMED])}"
        for what, ids in (("missing", missing), ("unknown", unknown), ("repeated", repeated))
        if ids
    ]
    message = (
        f"order must name every module in AI Review of the post once; {'; '.join(parts)}. "
        f"The present order is {', '.join(document.order)}."
    )
    raise RuleViolation(message, code="incomplete_order", details={"order": [message]})
