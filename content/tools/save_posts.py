"""The tool that stages changes of several posts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, cast

from django.db import transaction
from pydantic import Field

from content import layers, presenters
from content.layers import Staged, open_layers, stage
from content.models import Layer
from content.store import document_edits
from content.store.layer_state import REASON_MAX, paths_overlap
from content.tools.arguments import (
    PostId,
    Props,
    present_author,
    require_post,
    require_stageable,
    resolve_author,
    with_finder,
)
from content.tools.stage_changes import (
    Authored,
    HeldBack,
    RejectedProposal,
    field_paths,
    present_advice,
)
from content.tools.staging_warnings import StagingWarning
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotAllowed, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.progress import check_cancelled, report
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.call import refusal_text

MAX_POSTS: Final = 20
SUBMIT_TOOL: Final = "submit_ai_review_to_review"


class PostChange(Arguments):
    post: PostId
    patch: Props
    note: str = Field("", max_length=REASON_MAX)


class SavePosts(Arguments):
    changes: Annotated[list[PostChange], Field(min_length=1, max_length=MAX_POSTS)]
    submit: bool = False
    agent_id: str | None = Field(None, max_length=80)


class SavedPost(Result):
    """`post`: the id, or the reference as sent if no post was found. `submitted` is present with `submit`."""

    post: str
    ok: bool
    staged: list[str] | None = None
    warnings: list[StagingWarning] | None = None
    rejected_before: list[RejectedProposal] | None = None
    submitted: list[str] | None = None
    conflicts: list[HeldBack] | None = None
    error: str | None = None
    code: str | None = None


class SavedPosts(Authored):
    results: list[SavedPost]


@tool(
    title="Stage fields of several posts",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    idempotent=True,
    result=SavedPosts,
    waits=True,
)
def save_posts_ai_review(actor: Actor, arguments: SavePosts) -> JsonObject:
    """Stage post fields of up to 20 posts in AI Review, each on its own; note is the reason. submit sends these
    changes to Review."""
    writer = resolve_author(actor, arguments.agent_id)
    if arguments.submit:
        _require_submit(writer)
    results: list[Json] = []
    for number, change in enumerate(arguments.changes, start=1):
        check_cancelled()
        results.append(_save(change, actor, writer, arguments.submit))
        report(number, len(arguments.changes), change.post)
    return {"results": results, **present_author(writer, arguments.agent_id)}


def _require_submit(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may submit, also by the tools it may use."""
    actor.require("posts.ai-review.approve")
    if actor.tools is not None and SUBMIT_TOOL not in actor.tools:
        raise NotAllowed(
            f"{SUBMIT_TOOL} is not on your list of tools, so nothing was staged. Leave submit out.",
            code="tool_not_allowed",
        )


def _save(change: PostChange, actor: Actor, writer: Actor, submit: bool) -> JsonObject:
    """Return the result for one post. Its changes are staged and submitted together or not at all."""
    answer: JsonObject = {"post": change.post}
    try:
        post = require_post(change.post, actor)
        answer["post"] = str(post.pk)
        patch = dict(change.patch)
        require_stageable(patch)
        sent = field_paths(patch)
        with transaction.atomic():
            staged = stage(
                post_id=post.pk,
                layer=Layer.AI_REVIEW,
                actor=writer,
                edit=lambda document: document_edits.patch_fields(document, patch),
                reason=change.note,
            )
            done: JsonObject = {
                "ok": True,
                "staged": list(staged.paths),
                **present_advice(staged, writer, sent),
            }
            if submit:
                done |= _submit(staged, sent, writer, change.note)
    except CmsError as error:
        if isinstance(error, RuleViolation):
            error = with_finder(error)
        return {**answer, "ok": False, "error": refusal_text(error), "code": error.code}
    return {**answer, **done}


def _submit(staged: Staged, sent: Sequence[str], writer: Actor, note: str) -> JsonObject:
    """Submit the values of the call, including values that were staged before. The rest of AI Review stays."""
    waiting = open_layers(staged.post).ai_review.changes.paths
    paths = [path for path in waiting if any(paths_overlap(path, one) for one in sent)]
    if not paths:
        return {"submitted": []}
    done = layers.submit(post_id=staged.post.pk, actor=writer, paths=paths, note=note)
    wire = presenters.present_submitted(done)
    answer: JsonObject = {"submitted": [*wire["submitted"]]}
    conflicts = cast("list[Json]", wire["conflicts"])
    return {**answer, "conflicts": conflicts} if conflicts else answer
