"""The tool that proposes a new post."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from content.document.document import PostDocument
from content.document.post_fields import EXCERPT_MAX, META_MAX, SLUG_MAX, TITLE_MAX
from content.layers.stage import edit_made
from content.models import Post
from content.posts.create import propose_post
from content.rules import check_changes
from content.rules.modules import rekey_for_module
from content.store import document_edits
from content.store.module_group_queries import find_group
from content.tools.arguments import (
    Ids,
    Markdown,
    Proposal,
    Props,
    hint,
    resolve_author,
    with_finder,
)
from content.tools.rich_text import stored_props
from content.tools.stage_changes import StagedResult, staged_answer
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.call import drop_omitted
from proofroom.core.tools.schemas import lean_schema
from proofroom.core.validation.errors import error_path, first_fault, reason_of
from proofroom.core.validation.limits import LOCALE_MAX

NO_PROSE = (
    "contentMarkdown was not used: the template has no prose module. "
    "Add one with add_module_to_post_ai_review."
)


class ModuleEdit(Arguments):
    """A change of a template's module, found by id or by type and orderIndex."""

    post_module_id: UUID | None = None
    type: str | None = Field(None, max_length=80)
    order_index: int | None = Field(None, ge=0, strict=True)
    props: Props | None = None
    content_markdown: Markdown | None = None


# Objects, because a wrong edit is reported in the result and must not fail the whole call.
ModuleEdits = Annotated[
    list[dict[str, Any]],
    Field(max_length=100, description="Module by id, or by type and orderIndex."),
    WithJsonSchema({"type": "array", "items": lean_schema(ModuleEdit)}),
]


class CreatePost(Proposal):
    type: str = Field(max_length=60)
    title: str = Field(max_length=TITLE_MAX)
    slug: str | None = Field(None, max_length=SLUG_MAX)
    locale: str | None = Field(None, max_length=LOCALE_MAX)
    excerpt: str | None = Field(None, max_length=EXCERPT_MAX)
    content_markdown: Markdown | None = None
    module_group_name: str | None = Field(None, max_length=80)
    module_group_id: UUID | None = None
    meta_title: str | None = Field(None, max_length=TITLE_MAX)
    meta_description: str | None = Field(None, max_length=META_MAX)
    featured_media_id: UUID | None = None
    module_edits: ModuleEdits = []
    taxonomy_term_ids: Ids | None = None


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


@tool(
    title="Propose a post",
    kind="stage",
    permission="posts.create",
    group="posts",
    result=CreatedPost,
)
def create_post_ai_review(actor: Actor, arguments: CreatePost) -> JsonObject:
    """Propose a new draft post in AI Review. contentMarkdown fills its first prose module; failed moduleEdits are
    reported."""
    writer = resolve_author(actor, arguments.agent_id)
    results: list[JsonObject] = []
    probe = Post(type=arguments.type, locale=arguments.locale or "")

    def edit(document: PostDocument) -> PostDocument:
        prose = next((module for module in document.modules if module.type == "prose"), None)
        markdown = arguments.content_markdown
        if markdown is not None and prose is None:
            results.append({"ok": False, "error": NO_PROSE})
        elif markdown is not None and prose:
            # Before the edits, so that a later edit of the same prose wins if it succeeds, and the text stays
            # if it fails.
            document = document_edits.update_module(document, prose.id, content_markdown=markdown)
        for item in arguments.module_edits:
            document, result = _apply(probe, document, item, writer)
            results.append(result)
        return document

    media_id = arguments.featured_media_id
    fields: JsonObject = {"title": arguments.title}
    for name, value in (
        ("slug", arguments.slug),
        ("excerpt", arguments.excerpt),
        ("metaTitle", arguments.meta_title),
        ("metaDescription", arguments.meta_description),
        ("featuredMediaId", None if media_id is None else str(media_id)),
        ("taxonomyTermIds", arguments.taxonomy_term_ids),
    ):
        if value is not None:
            fields[name] = value
    module_group = arguments.module_group_name
    if module_group is None and arguments.module_group_id is not None:
        module_group = find_group(arguments.module_group_id).name
    try:
        proposed = propose_post(
            actor=writer,
            type=arguments.type,
            fields=fields,
            locale=arguments.locale,
            module_group=module_group,
            edit=edit,
            reason=arguments.note,
        )
    except RuleViolation as error:
        raise with_finder(error) from None
    document = proposed.staged.document
    return {
        **staged_answer(proposed.staged, writer, arguments.agent_id),
        "locale": document.locale,
        "slug": document.fields["slug"],
        "seededModules": [
            {
                "postModuleId": module.id,
                "type": module.type,
                "orderIndex": index,
                "locked": module.locked,
            }
            for index, module in enumerate(document.modules)
        ],
        "appliedModuleEdits": results,
    }


def _target(document: PostDocument, item: dict[str, Any]) -> str | None:
    """Return the id of the module an edit refers to: by id, else by type and orderIndex, else the first
    of its type."""
    wanted = item.get("postModuleId")
    if wanted is not None:
        return str(wanted).lower() if document.module(str(wanted).lower()) else None
    index = item.get("orderIndex")
    for position, module in enumerate(document.modules):
        if module.type == item.get("type") and index in (None, position):
            return module.id
    return None


def _apply(
    probe: Post, document: PostDocument, item: dict[str, Any], actor: Actor
) -> tuple[PostDocument, JsonObject]:
    """Return the document with one edit, or unchanged with the error."""
    item = drop_omitted(ModuleEdit, item)
    id_ = _target(document, item)
    try:
        entry = _read(item)
        if id_ is None:
            known = ", ".join(f"{m.type} at {i}" for i, m in enumerate(document.modules))
            raise RuleViolation(f"No seeded module matches; there are: {known or 'none'}.")
        type_ = document_edits.require_module(document, id_).type
        after = document_edits.update_module(
            document,
            id_,
            props=stored_props(type_, entry.props),
            content_markdown=entry.content_markdown,
        )
        edit_made(actor, document, after)
        return check_changes(post=probe, before=document, after=after, actor=actor), {
            "ok": True,
            "postModuleId": id_,
        }
    except CmsError as error:
        if isinstance(error, RuleViolation) and id_ is not None:
            error = with_finder(rekey_for_module(id_, error))
        result: JsonObject = {"ok": False, "error": error.message}
        if id_ is not None:
            result["postModuleId"] = id_
        return document, result


def _read(item: dict[str, Any]) -> ModuleEdit:
    try:
        return ModuleEdit.model_validate(item)
    except ValidationError as error:
        raise RuleViolation(first_fault(error, _describe, root="moduleEdit")[1]) from None


def _describe(item: ErrorDetails) -> str:
    path = error_path(item["loc"], root="moduleEdit")
    if item["type"] != "extra_forbidden":
        return f"{path}: {reason_of(item).rstrip('.')}."
    known = [str(field.alias) for field in ModuleEdit.model_fields.values()]
    return f"A moduleEdit has no key {path!r}.{hint(path, known)} Known: {', '.join(known)}."
