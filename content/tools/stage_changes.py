"""Tools that stage changes of a post in AI Review, and submit them to Review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast
from uuid import UUID

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from content import layers, presenters
from content.document.changes import TERMS_PATH
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.layers import stage
from content.layers.rejected_changes import rejections_before
from content.layers.stage import Edit, Staged
from content.models import Draft, Layer, PostModule
from content.rules.modules import rekey_for_module
from content.store import document_edits
from content.store.post_queries import shared_module
from content.store.scopes import filter_by_visible_post
from content.tools.arguments import (
    Ids,
    Markdown,
    ModuleId,
    Proposal,
    Props,
    Staging,
    present_author,
    require_module_type,
    require_post,
    require_stageable,
    resolve_author,
    with_finder,
)
from content.tools.rich_text import stored_props
from content.tools.staging_warnings import StagingWarning, present_warnings, staging_warnings
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.tools import Result, tool


class SavePost(Staging):
    patch: Props = Field(description="Post fields to change, such as title, excerpt, metaTitle.")
    taxonomy_term_ids: Ids | None = None
    expected_version: int | None = Field(None, ge=0)


class AddModule(Staging):
    module_type: str = Field(max_length=80)
    props: Props | None = None
    content_markdown: Markdown | None = None
    scope: Literal["local", "global"] | None = None
    global_slug: str | None = Field(None, max_length=100)
    order_index: int | None = Field(None, ge=0)


class OnModule(Proposal):
    post_module_id: ModuleId


class UpdateModule(OnModule):
    props: Props | None = None
    overrides: Props | None = None
    content_markdown: Markdown | None = None
    order_index: int | None = Field(None, ge=0)
    # Hidden from the schema, but accepted, so that the error can explain why it isn't allowed.
    locked: SkipJsonSchema[Any] = None


class SetTerms(Staging):
    taxonomy_term_ids: Ids


class Authored(Result):
    """`author` is the account of the staged values, if it is not the named agent."""

    author: str | None = None
    note: str | None = None


class RejectedProposal(Result):
    """An earlier rejection at a path. `same`: the same value was rejected then."""

    path: str
    at: str
    by: str
    note: str
    same: bool | None = None


class StagedResult(Authored):
    """`staged`: paths this call changed; `version`: the draft's version.

    `warnings` exists if staged values should be corrected, `rejectedBefore` if people have rejected a proposal for
    one of these paths.
    """

    post_id: str
    layer: Literal["ai-review"]
    version: int
    staged: list[str]
    warnings: list[StagingWarning] | None = None
    rejected_before: list[RejectedProposal] | None = None


class StagedModuleResult(StagedResult):
    post_module_id: str


class HeldBack(Result):
    path: str
    review: Any
    ai_review: Any


class SubmittedResult(Authored):
    post_id: str
    layer: Literal["review"]
    submitted: list[str]
    conflicts: list[HeldBack]


def staged_answer(
    staged: Staged, writer: Actor, agent_id: str | None, sent: Sequence[str] = ()
) -> JsonObject:
    """Return the common result of staging tools. Includes the author only if it differs from the named agent.

    `sent`: paths of the values in the call, to tell which of them changed nothing.
    """
    return {
        "postId": str(staged.post.pk),
        "layer": staged.layer.value,
        "version": staged.version,
        "staged": list(staged.paths),
        **present_advice(staged, writer, sent),
        **present_author(writer, agent_id),
    }


def present_advice(staged: Staged, writer: Actor, sent: Sequence[str] = ()) -> JsonObject:
    """Return the warnings of a result and the earlier rejections of what it staged, as far as there are any."""
    return {
        **present_warnings(staging_warnings(staged, writer, sent)),
        **present_rejected(staged),
    }


def present_rejected(staged: Staged) -> JsonObject:
    """Return the earlier rejections of the staged paths. One query, none if nothing was staged."""
    changes = staged.changes.only(staged.paths)
    found = rejections_before(staged.post, changes) if len(changes) else {}
    rows: list[Json] = [
        {
            "path": path,
            "at": format_time(one.at),
            "by": one.by,
            "note": one.note,
            **({"same": True} if one.is_same else {}),
        }
        for path, ones in found.items()
        for one in ones
    ]
    return {"rejectedBefore": rows} if rows else {}


def stage_proposal(
    actor: Actor,
    proposal: Proposal,
    post_id: UUID | str,
    edit: Edit,
    version: int | None = None,
    sent: Sequence[str] = (),
) -> JsonObject:
    writer = resolve_author(actor, proposal.agent_id)
    post = require_post(post_id, actor)
    staged = stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=writer,
        edit=edit,
        expected_version=version,
        reason=proposal.note,
    )
    return staged_answer(staged, writer, proposal.agent_id, sent)


@tool(
    title="Stage post fields",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    idempotent=True,
    result=StagedResult,
)
def save_post_ai_review(actor: Actor, arguments: SavePost) -> JsonObject:
    """Stage changes of post fields in AI Review, on top of its staged changes. Live content stays."""
    patch = dict(arguments.patch)
    if arguments.taxonomy_term_ids is not None:
        patch["taxonomyTermIds"] = arguments.taxonomy_term_ids
    require_stageable(patch)
    try:
        return stage_proposal(
            actor,
            arguments,
            arguments.post_id,
            lambda document: document_edits.patch_fields(document, patch),
            arguments.expected_version,
            sent=field_paths(patch),
        )
    except RuleViolation as error:
        raise with_finder(error) from None


@tool(
    title="Stage a new module",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    result=StagedModuleResult,
)
def add_module_to_post_ai_review(actor: Actor, arguments: AddModule) -> JsonObject:
    """Stage a new module in AI Review; missing props get defaults. contentMarkdown fills its rich text."""
    made: list[str] = []
    type_ = arguments.module_type
    require_module_type(type_, "moduleType")

    def edit(document: PostDocument) -> PostDocument:
        document, id_ = document_edits.add_module(
            document,
            type=type_,
            props=stored_props(type_, arguments.props),
            content_markdown=arguments.content_markdown,
            shared=shared_module(arguments.global_slug, arguments.scope),
            index=arguments.order_index,
        )
        made.append(id_)
        return document

    try:
        answer = stage_proposal(actor, arguments, arguments.post_id, edit)
    except RuleViolation as error:
        raise with_finder(rekey_for_module(made[0], error) if made else error) from None
    return {**answer, "postModuleId": made[0]}


@tool(
    title="Stage a module's change",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    idempotent=True,
    result=StagedModuleResult,
)
def update_post_module_ai_review(actor: Actor, arguments: UpdateModule) -> JsonObject:
    """Stage changed props (merged), overrides, rich text from Markdown, or position of a module in AI Review."""
    id_ = str(arguments.post_module_id)
    if "locked" in arguments.model_fields_set:
        message = "Whether a module is locked is for people to decide; leave locked out."
        raise RuleViolation(message, code="locked_module", details={"locked": [message]})

    def edit(document: PostDocument) -> PostDocument:
        type_ = require_module(document, id_).type
        return document_edits.update_module(
            document,
            id_,
            props=stored_props(type_, arguments.props),
            overrides=stored_props(type_, arguments.overrides),
            content_markdown=arguments.content_markdown,
            index=arguments.order_index,
        )

    try:
        sent = [
            f"modules.{id_}.{part}.{name}"
            for part, values in (("props", arguments.props), ("overrides", arguments.overrides))
            for name in values or ()
        ]
        answer = stage_proposal(actor, arguments, post_of_module(id_, actor), edit, sent=sent)
    except RuleViolation as error:
        raise with_finder(rekey_for_module(id_, error)) from None
    return {**answer, "postModuleId": id_}


@tool(
    title="Stage a module's removal",
    kind="stage",
    permission="posts.ai-review.save",
    group="posts",
    result=StagedModuleResult,
)
def remove_post_module_ai_review(actor: Actor, arguments: OnModule) -> JsonObject:
    """Stage the removal of a module in AI Review. Locked modules are refused."""
    id_ = str(arguments.post_module_id)
    answer = stage_proposal(
        actor,
        arguments,
        post_of_module(id_, actor),
        lambda document: document.without_module(require_module(document, id_).id),
    )
    return {**answer, "postModuleId": id_}


@tool(
    title="Stage taxonomy terms",
    kind="stage",
    permission="posts.ai-review.save",
    group="taxonomies",
    idempotent=True,
    result=StagedResult,
)
def set_post_taxonomy_terms_ai_review(actor: Actor, arguments: SetTerms) -> JsonObject:
    """Stage the whole list of a post's taxonomy terms in AI Review."""
    return stage_proposal(
        actor,
        arguments,
        arguments.post_id,
        lambda document: document.with_terms(arguments.taxonomy_term_ids),
        sent=[TERMS_PATH],
    )


def field_paths(patch: Mapping[str, Json]) -> list[str]:
    """Return the paths of the post fields in a patch."""
    found: list[str] = []
    for name, value in patch.items():
        if name == "customFields" and isinstance(value, Mapping):
            found += (f"post.{CUSTOM_PREFIX}{key}" for key in value)
        else:
            found.append(f"post.{name}")
    return found


def require_module(document: PostDocument, module_id: str) -> ModuleDocument:
    """Return the module in AI Review. Raises `NotFound` for a live module whose removal is staged."""
    module = document.module(module_id)
    if module is None:
        raise NotFound(
            f"The module {module_id} is not in AI Review of this post: its removal is staged there, or in Review. "
            "Call get_post_context to see the present draft."
        )
    return module


def post_of_module(module_id: str, actor: Actor) -> UUID:
    """Return the id of the post that contains a module, live or in a layer, if visible to the actor."""
    placed = filter_by_visible_post(PostModule.objects.filter(pk=module_id), actor)
    row = placed.values_list("post_id", flat=True).first()
    if row is not None:
        return row
    # A module that is only staged has no row of its own; the mark of its addition names it.
    drafts = Draft.objects.filter(is_empty=False, marks__has_key=f"modules.{module_id}")
    for draft in filter_by_visible_post(drafts, actor):
        return draft.post_id
    raise NotFound(
        f"No module has the postModuleId {module_id}. Call get_post_context to see a post's modules."
    )


class Submit(Staging):
    note: str = Field("", max_length=2000)


@tool(
    title="Submit to Review",
    kind="stage",
    permission="posts.ai-review.approve",
    group="posts",
    result=SubmittedResult,
)
def submit_ai_review_to_review(actor: Actor, arguments: Submit) -> JsonObject:
    """Submit staged changes in AI Review for approval by people.
    Paths a person staged differently stay as conflicts."""
    writer = resolve_author(actor, arguments.agent_id)
    post = require_post(arguments.post_id, actor)
    done = layers.submit(post_id=post.pk, actor=writer, note=arguments.note)
    wire = presenters.present_submitted(done)
    return {
        "postId": str(done.post.pk),
        "layer": "review",
        "submitted": wire["submitted"],
        "conflicts": cast("list[Json]", wire["conflicts"]),
        **present_author(writer, arguments.agent_id),
    }
