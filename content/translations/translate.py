"""Translate: create translations by copying posts, and mark their values as up to date."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.document import AGENT_FIELD_NAMES, PostDocument
from content.layers.stage import Staged, stage
from content.models import CopyOrigin, Layer, Post
from content.posts.create import (
    empty_document,
    insert,
    insert_placeholder,
    new_row,
    record_created,
    record_translation,
    require_names,
)
from content.rules.check import check_changes, clean_changes
from content.rules.modules import rekey_by_names
from content.rules.place_scope import require_place_in_scope
from content.store import document_edits, post_repository
from content.store.duplicate import COPIED_FIELDS, copied_fields, copy_modules, translate_terms
from content.store.layer_state import lock_post, open_layers
from content.store.scopes import outside_of_scope, post_not_found, visible_to
from content.store.translation_rules import translated_modules
from content.store.translation_status import (
    TranslationState,
    record_source,
    source_hashes,
    states_of,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject
from proofroom.core.progress import check_cancelled, report
from proofroom.definitions import find_module, find_post_type, translatable_paths


@dataclass(frozen=True, slots=True)
class StagedTranslation:
    """A staged translation. `modules` maps source module ids to translation module ids."""

    staged: Staged
    modules: Mapping[str, str]
    translatable: Mapping[str, tuple[str, ...]]
    """Paths to translate by translation module id."""

    @property
    def post(self) -> Post:
        return self.staged.post


@transaction.atomic
def create_translation(
    *,
    post_id: UUID | str,
    locale: str,
    actor: Actor,
    slug: str | None = None,
    title: str | None = None,
) -> Post:
    """Create a draft in another language with a copy of the post's content, to be translated.

    Raises `RuleViolation` on `locale` if the translation exists (`translation_exists`), on `slug` if the slug,
    by default the source's, is in use.
    """
    actor.require_person("create translations of live content")
    actor.require("posts.translate")
    source = lock_post(post_id, actor, is_source=True)
    require_translatable(source)
    document = post_repository.load(source)
    post = _build_row(actor, source, locale)
    empty = empty_document(post)
    copy, ids = _copy_document(document, empty, locale)
    own: JsonObject = {"title": title} if title is not None else {}
    own["slug"] = slug if slug is not None else str(document.fields["slug"])
    # Checked with the final slug: an error about a slug in use reveals the other page, so the actor must be
    # allowed to write there.
    placed = copy.with_fields({"slug": own["slug"]})
    require_place_in_scope(post=post, before=empty, after=placed, actor=actor)
    try:
        # Checks content rules only: users who may translate a post may copy all of it, including locked
        # modules.
        copy = clean_changes(post, empty, copy, document)
    except RuleViolation as error:
        # The user knows the modules of the source, not the new ids of the copy.
        names = {copied: source_id for source_id, copied in ids.items()}
        raise rekey_by_names(error, names) from None
    copy = check_changes(
        post=post, before=copy, after=document_edits.patch_fields(copy, own), actor=actor
    )
    require_names(copy)
    changes = insert(post, empty, copy, actor)
    record_source(post, document, copy, ids)
    record_created(post, changes, actor, source=source)
    return post


@transaction.atomic
def propose_translation(
    *,
    post_id: UUID | str,
    locale: str,
    actor: Actor,
    source_layer: Layer | None = None,
    fields: Mapping[str, Json] | None = None,
    modules: Mapping[str, Mapping[str, Json]] | None = None,
    reason: str = "",
) -> StagedTranslation:
    """Create a draft in another language whose content is only in AI Review.

    Copies the source, then applies `fields` and the translatable props in `modules`, keyed by source module id.
    `reason` is the explanation given by the agent or AI client.
    """
    actor.require("posts.create")
    source = lock_post(post_id, actor, is_source=True)
    require_translatable(source, source_layer)
    actor.require_inside(source.translation_group)
    document = open_layers(source).document(source_layer)
    post = _build_row(actor, source, locale)
    insert_placeholder(post, actor)
    made: dict[str, str] = {}

    def seed(empty: PostDocument) -> PostDocument:
        copy, ids = _copy_document(document, empty, locale)
        # Whom to credit is decided by people, so the proposal names no authors.
        own = {
            name: empty.fields.get(name) for name in COPIED_FIELDS if name not in AGENT_FIELD_NAMES
        }
        copy = copy.with_fields(own)
        made.update(ids)
        return document_edits.patch_fields(copy, {"slug": document.fields.get("slug")})

    def translate(copy: PostDocument) -> PostDocument:
        copy = document_edits.patch_fields(copy, fields or {})
        for source_id, props in translated_modules(document, modules or {}).items():
            copy = document_edits.update_module(copy, made[source_id], props=props)
        return copy

    try:
        staged = stage(
            post_id=post.pk,
            layer=Layer.AI_REVIEW,
            actor=actor,
            seed=seed,
            edit=translate,
            taken_over=document,
            reason=reason,
        )
    except RuleViolation as error:
        raise rekey_by_names(
            error, {copied: source_id for source_id, copied in made.items()}
        ) from None
    record_source(post, document, staged.document, made)
    record_translation(post, source, actor)
    found: dict[str, tuple[str, ...]] = {}
    for module in staged.document.modules:
        part = "props" if module.scope == "local" else "overrides"
        names = translatable_paths(find_module(module.type).name)
        found[module.id] = tuple(f"modules.{module.id}.{part}.{name}" for name in sorted(names))
    return StagedTranslation(staged, made, found)


def require_translatable(source: Post, layer: Layer | None = None) -> None:
    """Raise `RuleViolation` if a post can't be translated from a layer (None is live)."""
    if source.variation_of_id is not None:
        message = _("Variations cannot be translated. Translate the original.")
        raise RuleViolation(message, code="is_variation")
    if not find_post_type(source.type).localized:
        message = _("Posts of type %(type)s cannot be translated.") % {"type": source.type}
        raise RuleViolation(message, code="not_localized")
    if not source.is_placeholder:
        return
    if layer is None or not open_layers(source).view(layer).exists:
        message = _("This post was created by an agent. Approve its content before you publish it.")
        raise RuleViolation(message, code="not_approved")


def _build_row(actor: Actor, source: Post, locale: str) -> Post:
    """Return the unsaved translation, below the translation of the source's parent."""
    if not locale:
        raise invalid("locale", _("locale must be a language of this site."))
    if locale == source.locale:
        message = _(
            "%(language)s is the language of this post (%(pk)s). Choose another language."
        ) % {
            "language": language_name(locale),
            "pk": source.pk,
        }
        raise invalid("locale", message, code="translation_exists")
    if not all(locale in scope.locales for scope in actor.scopes if scope.locales):
        # Before any lookup: the error for an existing translation would reveal posts outside the scope.
        raise outside_of_scope()
    post = new_row(actor, source.type, locale, source)
    post.order_index = source.order_index
    if source.parent is not None:
        parents = Post.objects.alive().filter(locale=post.locale)
        post.parent = parents.filter(translation_group=source.parent.translation_group).first()
    return post


def _copy_document(
    source: PostDocument, empty: PostDocument, locale: str
) -> tuple[PostDocument, dict[str, str]]:
    document = empty.with_fields(copied_fields(source)).with_terms(translate_terms(locale, source))
    return copy_modules(source, document)


@transaction.atomic
def mark_up_to_date(
    *, post_id: UUID | str, actor: Actor, paths: Collection[str]
) -> TranslationState:
    """Mark paths of a translation as correct although the source changed or has the same value.

    Accepts stale and untranslated paths, and `modules.<id>` of a new source module to omit or of an own module
    to keep.
    """
    actor.require_person("say that a translation is up to date")
    actor.require("posts.translate")
    post = lock_post(post_id, actor)
    origin = CopyOrigin.objects.filter(post=post).first()
    if post.translated_from is None or origin is None:
        raise NotFound(_("This post is not a translation with a known source."))
    source = post_repository.load(post.translated_from)
    now = source_hashes(source, origin.modules)
    state = states_of([post]).get(post.pk, TranslationState())
    new = {f"modules.{module.id}": module.id for module in state.new_modules}
    removed = {f"modules.{own}": source_id for own, source_id in state.removed_modules}
    unknown = [path for path in paths if path not in now and path not in new | removed]
    if unknown:
        message = _("This translation has no field %(unknown)r to compare with its source.") % {
            "unknown": unknown[0][:300]
        }
        raise invalid("paths", message, code="unknown_path")
    origin.hashes |= {path: now[path] for path in paths if path in now}
    origin.untranslated = [path for path in origin.untranslated if path not in paths]
    origin.modules |= {new[path]: None for path in paths if path in new}
    for path in paths:
        origin.modules.pop(removed.get(path, ""), None)
    origin.save(update_fields=["hashes", "modules", "untranslated", "updated_at"])
    outbox.record(
        "post.translation-checked",
        actor=actor,
        post_id=post.pk,
        payload={"id": str(post.pk), "paths": sorted(set(paths))},
    )
    return states_of([post])[post.pk]


@dataclass(frozen=True, slots=True)
class LanguageOutcome:
    """The result for one language: the proposed translation, or an error.

    `existed`: a proposal from this source already existed, for example after an interrupted call. With an
    error, `post_id` is the conflicting translation if the actor may see it.
    """

    locale: str
    post_id: UUID | None = None
    existed: bool = False
    error: str = ""


def propose_translations(
    *,
    post_id: UUID | str,
    locales: Sequence[str],
    actor: Actor,
    source_layer: Layer | None = None,
    reason: str = "",
) -> list[LanguageOutcome]:
    """Propose a translation into each language that has none.

    Can be repeated after an interruption: existing proposals are reported, not duplicated. Raises `NotFound`,
    `NotAllowed` or `RuleViolation` if the post can't be translated at all.
    """
    actor.require("posts.create")
    source = visible_to(Post.objects.kept(), actor).filter(pk=post_id).first()
    if source is None:
        raise post_not_found(post_id)
    actor.require_inside(source.translation_group)
    require_translatable(source, source_layer)
    wanted = list(dict.fromkeys(locales))
    outcomes: list[LanguageOutcome] = []
    for locale in wanted:
        # Between languages, so that finished proposals stay.
        check_cancelled()
        try:
            made = propose_translation(
                post_id=source.pk,
                locale=locale,
                actor=actor,
                source_layer=source_layer,
                reason=reason,
            )
            outcome = LanguageOutcome(locale, made.post.pk)
        except (RuleViolation, Conflict, NotFound) as error:
            others = visible_to(Post.objects.alive(), actor).filter(
                translation_group=source.translation_group
            )
            there = others.filter(locale=locale).first()
            if there is None:
                outcome = LanguageOutcome(locale, error=error.message)
            elif there.is_placeholder and there.translated_from_id == source.pk:
                outcome = LanguageOutcome(locale, there.pk, existed=True)
            else:
                outcome = LanguageOutcome(locale, there.pk, error=error.message)
        outcomes.append(outcome)
        report(len(outcomes), len(wanted), locale)
    return outcomes
