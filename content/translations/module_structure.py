"""Copies modules and their order from the source of a translation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.layers.stage import stage
from content.models import CopyOrigin, Layer, Post
from content.posts.edit import edit_post
from content.store import post_repository
from content.store.document_edits import remove_module
from content.store.layer_state import lock_post
from content.store.scopes import visible_to
from content.store.translation_status import find_copied_texts, source_hashes
from content.translations.source_comparison import modules_in_source_order
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, invalid

Edit = Callable[[PostDocument], PostDocument]


@transaction.atomic
def add_source_module(
    *,
    post_id: UUID | str,
    module_id: str,
    actor: Actor,
    layer: Layer | None = None,
    expected_version: int | None = None,
) -> str:
    """Copy a module of the source into its translation, after the copy of its predecessor, and return the copy's
    id.

    Writes live content, or Review. Raises `NotFound` if the post has no source, `RuleViolation` on `module` if
    the source doesn't have the module or the translation already does.
    """
    actor.require_person("change the modules of a translation")
    actor.require("posts.edit")
    origin, source = _source_of(post_id, actor)
    module = source.module(module_id)
    if module is None:
        raise invalid("module", _("The source no longer has this module."), code="unknown_module")
    known = origin.modules.get(module.id)
    copy = replace(
        module,
        id=str(uuid4()),
        instance_id=module.instance_id if module.scope == "global" else str(uuid4()),
        locked=False,
    )
    earlier = source.order[: source.order.index(module.id)]

    def edit(document: PostDocument) -> PostDocument:
        if known is not None and document.module(known) is not None:
            raise invalid("module", _("The translation already has this module."), code="is_there")
        places = [
            document.order.index(own)
            for source_id in earlier
            if (own := origin.modules.get(source_id)) is not None and own in document.order
        ]
        return document.with_module(copy, places[-1] + 1 if places else 0)

    _write(post_id, actor, layer, edit, expected_version)
    # The write above may have updated this row through another instance.
    origin.refresh_from_db()
    origin.modules[module.id] = copy.id
    now = source_hashes(source, {module.id: copy.id})
    origin.hashes |= {path: value for path, value in now.items() if copy.id in path}
    alone = PostDocument(source.type, origin.post.locale, {}, (copy,))
    copied = find_copied_texts(alone, source, {module.id: copy.id})
    origin.untranslated = sorted({*origin.untranslated, *copied})
    origin.save(update_fields=["modules", "hashes", "untranslated", "updated_at"])
    return copy.id


@transaction.atomic
def adopt_source_order(
    *,
    post_id: UUID | str,
    actor: Actor,
    layer: Layer | None = None,
    expected_version: int | None = None,
) -> None:
    """Put the modules of a translation in the order of its source.

    Modules only in the translation stay after their predecessor.
    """
    actor.require_person("change the modules of a translation")
    actor.require("posts.edit")
    origin, source = _source_of(post_id, actor)
    source_ids = {own: source_id for source_id, own in origin.modules.items() if own}

    def edit(document: PostDocument) -> PostDocument:
        modules = {module.id: module for module in document.modules}
        order = modules_in_source_order(source, document, source_ids)
        return replace(document, modules=tuple(modules[id_] for id_ in order))

    _write(post_id, actor, layer, edit, expected_version)


def remove_own_module(
    *,
    post_id: UUID | str,
    module_id: str,
    actor: Actor,
    layer: Layer | None = None,
    expected_version: int | None = None,
) -> None:
    """Remove a module of a translation whose source module is gone. Raises `NotFound` if there is no such module."""
    actor.require_person("change the modules of a translation")
    actor.require("posts.edit")
    _write(
        post_id,
        actor,
        layer,
        lambda document: remove_module(document, module_id),
        expected_version,
    )


def _source_of(post_id: UUID | str, actor: Actor) -> tuple[CopyOrigin, PostDocument]:
    post = lock_post(post_id, actor)
    origin = CopyOrigin.objects.filter(post=post).first()
    if origin is None or post.translated_from_id is None:
        raise NotFound(_("This post is not a translation with a known source."))
    sources = visible_to(Post.objects.alive(), actor)
    source = sources.filter(pk=post.translated_from_id).first()
    if source is None:
        raise NotFound(_("This post is not a translation with a known source."))
    return origin, post_repository.load(source)


def _write(
    post_id: UUID | str, actor: Actor, layer: Layer | None, edit: Edit, version: int | None
) -> None:
    if layer is None:
        edit_post(post_id=post_id, actor=actor, edit=edit, expected_version=version)
    else:
        stage(post_id=post_id, layer=layer, actor=actor, edit=edit, expected_version=version)
