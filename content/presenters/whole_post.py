"""A post with its modules in every layer, as the management API answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from uuid import UUID

from content.layers import Layers
from content.models import ModuleInstance, Post
from content.presenters.posts import Wire, layer_states, layered_modules, post_fields
from content.presenters.posts import translations as present_translations
from content.store import post_queries
from content.store.layered_post import LayeredPost, read_layered_post
from content.store.page_locks import find_page_lock
from content.store.scopes import post_not_found, require_visible
from proofroom.core.actor import Actor
from proofroom.core.content_scope import Scoped
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from proofroom.core.validation.input_validation import parse_uuid


def whole_post(
    post: Post,
    layers: Layers,
    *,
    staged: bool,
    who: Scoped,
    translations: Iterable[tuple[str, str]] | None = None,
    shared: Mapping[str, JsonObject] | None = None,
) -> JsonObject:
    """Return a post with everything a reader of the management API may see.

    `translations` (id and locale) and the props of `shared` modules are loaded if not given.
    """
    wire = post_fields(post)
    author = post.author
    wire["author"] = {"id": author.pk, "username": author.username} if author is not None else None
    lock = find_page_lock(post)
    wire["lock"] = lock.to_json() if lock is not None else None
    wire["taxonomyTermIds"] = list(layers.live.taxonomy_term_ids)
    wire["translations"] = (
        present_translations(post_queries.visible_translations(post, who))
        if translations is None
        else [{"id": id_, "locale": locale} for id_, locale in translations]
    )
    wire["modules"] = modules_of(layers, staged=staged, known=shared or {})
    if staged:
        describe_variation: Wire = {
            "variationOf": post.variation_of_id,
            "variation": post.variation or None,
            "weight": post.variation_weight,
            "running": post.variation_running if post.variation_of_id is not None else None,
        }
        original = post.variation_of
        if original is not None:
            describe_variation["url"] = original.path
            describe_variation["canonicalUrl"] = (
                post.canonical_url or original.canonical_url or absolute(original.path)
            )
        wire |= describe_variation
        wire["isPlaceholder"] = post.is_placeholder
        wire["layers"] = layer_states(
            {
                str(view.layer): post_queries.layer_row(view.draft)
                for view in (layers.review, layers.ai_review)
                if view.draft is not None and not view.draft.is_empty
            }
        )
    return wire


def modules_of(
    layers: Layers,
    *,
    staged: bool,
    known: Mapping[str, JsonObject] = MappingProxyType({}),
) -> list[Wire]:
    """Return the modules of a post in every layer; one more statement if props of a shared module are
    not in `known`."""
    shared_ids = {
        module.instance_id
        for document in (layers.live, layers.review.document, layers.ai_review.document)
        for module in document.modules
        if module.scope != "local"
    }
    shared = dict(known)
    if missing := shared_ids - shared.keys():
        rows = ModuleInstance.objects.filter(pk__in=missing).values_list("pk", "props")
        shared |= {str(pk): props for pk, props in rows}
    return layered_modules(layers, shared, may_see_staged=staged)


def read_post(post_id: UUID | str, actor: Actor) -> JsonObject:
    """Return `whole_post` for this id. Raises `NotFound` as `require_post` does.

    One statement; more for users with scopes, and if a layer adds a shared module.
    """
    id_ = parse_uuid(post_id)
    read = read_layered_post(id_, actor) if id_ is not None else None
    if read is None:
        raise post_not_found(post_id)
    require_visible(read.post, actor)
    return _whole_post_of(read, actor)


def present_post(post: Post, who: Scoped) -> JsonObject:
    """Return the post after a write, for its author. One statement."""
    read = read_layered_post(post.pk, who)
    if read is None:
        raise post_not_found(post.pk)
    return _whole_post_of(read, who)


def _whole_post_of(read: LayeredPost, who: Scoped) -> JsonObject:
    return whole_post(
        read.post,
        read.layers,
        staged=True,
        who=who,
        translations=read.translations,
        shared=read.shared,
    )
