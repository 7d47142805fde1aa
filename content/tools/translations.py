"""Tools that list and propose translations."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from content.layers import open_layers
from content.models import Layer, Post
from content.store import post_queries
from content.store.scopes import visible_to
from content.store.translation_status import TranslationState, states_of
from content.tools.arguments import (
    PostId,
    Props,
    Staging,
    present_author,
    require_post,
    require_stageable,
    resolve_author,
    with_finder,
)
from content.tools.rich_text import stored_props
from content.tools.stage_changes import Authored, StagedResult, staged_answer
from content.tools.staging_warnings import StagingWarning, present_warnings, proposal_warnings
from content.translations.translate import propose_translation, propose_translations
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.tools.pagination import Paged, ToolPage, page_after
from proofroom.core.validation.limits import LOCALE_MAX

Locale = Annotated[str, Field(max_length=LOCALE_MAX)]


class Translations(Paged):
    post_id: PostId


class OfSource(Staging):
    source_layer: Literal["source", "review"] = "source"

    @property
    def layer(self) -> Layer | None:
        return None if self.source_layer == "source" else Layer.REVIEW


class TranslatedModule(Arguments):
    source_post_module_id: UUID
    props: Props


class CreateTranslation(OfSource):
    locale: Locale
    slug: str | None = Field(None, max_length=200)
    fields: Props = {}
    modules: list[TranslatedModule] = Field([], max_length=300)


class CreateTranslations(OfSource):
    locales: list[Locale] = Field(min_length=1, max_length=50)


class ListedTranslation(Result):
    id: str
    locale: str
    slug: str
    title: str
    status: str
    stale_paths: list[str]
    untranslated_paths: list[str]
    layers: list[str] | None = None
    url: str | None = None
    translated_from: str | None = None
    new_modules: list[dict[str, str]] | None = None
    removed_modules: list[dict[str, str]] | None = None


class TranslationPage(ToolPage):
    items: list[ListedTranslation]


class TranslationModule(Result):
    source_post_module_id: str
    post_module_id: str
    translatable: list[str]


class CreatedTranslation(StagedResult):
    translation_id: str
    locale: str
    slug: str
    modules: list[TranslationModule]


class ProposedTranslation(Result):
    """`existed`: a proposal from this post already existed."""

    locale: str
    ok: bool
    translation_id: str | None = None
    existed: bool | None = None
    warnings: list[StagingWarning] | None = None
    error: str | None = None


class ProposedTranslations(Authored):
    items: list[ProposedTranslation]
    total: int


@tool(
    title="Translations",
    kind="read",
    permission="posts.view",
    group="translations",
    result=TranslationPage,
)
def list_post_translations(actor: Actor, arguments: Translations) -> JsonObject:
    """A post's other languages. stalePaths: the source has changed since; untranslatedPaths: the source's text."""
    post = require_post(arguments.post_id, actor)
    seen = visible_to(post_queries.listed_posts(), actor)
    others = seen.filter(translation_group=post.translation_group)
    rows = others.exclude(pk=post.pk)

    def listed(part: list[Post]) -> list[JsonObject]:
        states, layers = states_of(part), post_queries.layer_rows([row.pk for row in part])
        return [
            _listed(row, states.get(row.pk, _PLAIN), sorted(layers.get(row.pk, ())), arguments)
            for row in part
        ]

    return page_after(arguments, "list_post_translations", rows, ("locale", "id"), listed)


_PLAIN = TranslationState()


def _listed(
    row: Post, state: TranslationState, layers: list[str], arguments: Translations
) -> JsonObject:
    answer: JsonObject = {
        "id": str(row.pk),
        "locale": row.locale,
        "slug": row.slug,
        "title": row.title,
        "status": row.status,
        "stalePaths": [*state.stale_paths],
        "untranslatedPaths": [*state.untranslated_paths],
    }
    if arguments.is_full:
        answer["url"] = row.path
        answer["newModules"] = [
            {"sourcePostModuleId": module.id, "type": module.type} for module in state.new_modules
        ]
        answer["removedModules"] = [
            {"postModuleId": own, "sourcePostModuleId": source}
            for own, source in state.removed_modules
        ]
    if layers:
        answer["layers"] = [*layers]
    if arguments.is_full and row.translated_from_id is not None:
        answer["translatedFrom"] = str(row.translated_from_id)
    return answer


@tool(
    title="Propose a translation",
    kind="stage",
    permission="posts.create",
    group="translations",
    result=CreatedTranslation,
)
def create_translation_ai_review(actor: Actor, arguments: CreateTranslation) -> JsonObject:
    """Propose a translation as a new draft post in AI Review; fields and modules left out stay untranslated."""
    writer = resolve_author(actor, arguments.agent_id)
    source = require_post(arguments.post_id, actor)
    fields = dict(arguments.fields)
    require_stageable(fields)
    if arguments.slug is not None:
        fields["slug"] = arguments.slug
    original = open_layers(source).document(arguments.layer)
    modules: dict[str, JsonObject] = {}
    for item in arguments.modules:
        id_ = str(item.source_post_module_id)
        module = original.module(id_)
        # An unknown module is reported by the service, with its id.
        props = dict(item.props) if module is None else stored_props(module.type, item.props)
        modules[id_] = {**modules.get(id_, {}), **(props or {})}
    try:
        made = propose_translation(
            post_id=source.pk,
            locale=arguments.locale,
            actor=writer,
            source_layer=arguments.layer,
            fields=fields,
            modules=modules,
            reason=arguments.note,
        )
    except RuleViolation as error:
        raise with_finder(_with_advice(error)) from None
    document = made.staged.document
    return {
        **staged_answer(made.staged, writer, arguments.agent_id),
        **{
            "translationId": str(made.post.pk),
            "locale": document.locale,
            "slug": document.fields["slug"],
            "modules": [
                {
                    "sourcePostModuleId": source_id,
                    "postModuleId": copy,
                    "translatable": list(made.translatable[copy]),
                }
                for source_id, copy in made.modules.items()
            ],
        },
    }


def _with_advice(error: RuleViolation) -> RuleViolation:
    if error.code == "translation_exists":
        error.message += (
            " Change that post instead: get_post_context, then save_post_ai_review "
            "and update_post_module_ai_review."
        )
    elif error.code == "not_approved":
        error.message += " Once it is submitted, sourceLayer review translates what is proposed."
    elif "slug" in error.details:
        error.message += " Send a slug of its own."
    return error


@tool(
    title="Propose translations",
    kind="stage",
    permission="posts.create",
    group="translations",
    idempotent=True,
    result=ProposedTranslations,
    waits=True,
)
def create_translations_ai_review_bulk(actor: Actor, arguments: CreateTranslations) -> JsonObject:
    """Propose an untranslated copy for each locale in AI Review. Call again after an interruption."""
    writer = resolve_author(actor, arguments.agent_id)
    source = require_post(arguments.post_id, actor)
    try:
        outcomes = propose_translations(
            post_id=source.pk,
            locales=arguments.locales,
            actor=writer,
            source_layer=arguments.layer,
            reason=arguments.note,
        )
    except RuleViolation as error:
        raise _with_advice(error) from None
    warnings = proposal_warnings([one.post_id for one in outcomes if one.post_id], writer)
    items: list[Json] = []
    for outcome in outcomes:
        item: JsonObject = {"locale": outcome.locale, "ok": not outcome.error}
        if outcome.post_id is not None:
            item["translationId"] = str(outcome.post_id)
        if outcome.existed:
            item["existed"] = True
        if outcome.post_id in warnings and not outcome.error:
            item |= present_warnings(warnings[outcome.post_id])
        if outcome.error:
            item["error"] = outcome.error
        items.append(item)
    return {
        "items": items,
        "total": len(outcomes),
        **present_author(writer, arguments.agent_id),
    }
