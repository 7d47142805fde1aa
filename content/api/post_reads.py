"""What the endpoints of posts answer, read from the database."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.conf import settings
from rest_framework.request import Request

from content import presenters
from content.api.filters import filtered, is_filtered, ordering_of
from content.layers import Layers, open_layers
from content.layers.state import post_not_found
from content.media_usage.delivered_files import media_of
from content.models import ModuleInstance, Post
from content.posts import queries
from proofroom.core.api.pagination import page_of
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute


def post_list(
    request: Request, *, staged: bool, fields: Collection[str] | None = None
) -> JsonObject:
    """A page of posts with their live modules; all with `staged`, else those that are published.

    With `fields`, only those of each post. Three statements, four with what is staged or with files.
    """
    page = page_of(request)
    if is_filtered(request, staged=staged):
        posts = queries.visible_posts() if staged else queries.published_posts()
        posts = filtered(request, posts, staged=staged)
        total = posts.count()
        rows: list[dict[str, Any]] = list(posts.values(*queries.LIST_COLUMNS)[page.slice])
    else:
        locale = settings.CMS_ENV.default_locale
        total = queries.count(locale, only_published=not staged)
        rows = queries.page_of(locale, ordering_of(request), page.slice, only_published=not staged)
    ids = [row["id"] for row in rows]
    has_media = fields is not None and "media" in fields
    has_modules = fields is None or has_media or "modules" in fields
    modules = queries.module_rows(ids) if ids and has_modules else {}
    layers = queries.layer_rows(ids) if ids and staged else {}
    posts_on_wire = [
        presenters.listed_post(
            row, modules.get(row["id"], []), layers.get(row["id"], {}) if staged else None
        )
        for row in rows
    ]
    if has_media:
        media = media_of({row["id"]: row["locale"] for row in rows}, modules)
        posts_on_wire = [{**wire, "media": media[wire["id"]]} for wire in posts_on_wire]
    if fields is not None:
        posts_on_wire = [only(wire, fields) for wire in posts_on_wire]
    return page.envelope(posts_on_wire, total)


def only(wire: presenters.Wire, fields: Collection[str]) -> presenters.Wire:
    """A post without what was not asked for."""
    return {name: value for name, value in wire.items() if name in fields}


def require_post(post_id: UUID | str) -> Post:
    """The post of that id, unless it is in the trash; `NotFound` otherwise."""
    try:
        found = queries.find_post(UUID(str(post_id)))
    except ValueError:
        found = None
    if found is None:
        raise post_not_found(post_id)
    return found


def whole_post(post: Post, layers: Layers, *, staged: bool) -> JsonObject:
    """A post with everything that a reader of the management API may see of it."""
    wire = presenters.post_fields(post)
    author = post.author
    wire["author"] = {"id": author.pk, "username": author.username} if author is not None else None
    wire["taxonomyTermIds"] = list(layers.live.taxonomy_term_ids)
    wire["translations"] = presenters.translations(queries.translations_of(post))
    wire["modules"] = modules_of(layers, staged=staged)
    if staged:
        wire |= _describe_variation(post)
        wire["isPlaceholder"] = post.is_placeholder
        wire["layers"] = presenters.layer_states(
            {
                str(view.layer): queries.layer_row(view.draft)
                for view in (layers.review, layers.ai_review)
                if view.draft is not None and not view.draft.is_empty
            }
        )
    return wire


def _describe_variation(post: Post) -> presenters.Wire:
    """Whether a post is a variation. One that is has the address of its original, and names it as canonical."""
    wire: presenters.Wire = {
        "variationOf": post.variation_of_id,
        "variation": post.variation or None,
        "weight": post.variation_weight,
        "running": post.variation_running if post.variation_of_id is not None else None,
    }
    original = post.variation_of
    if original is not None:
        wire["url"] = original.path
        wire["canonicalUrl"] = (
            post.canonical_url or original.canonical_url or absolute(original.path)
        )
    return wire


def modules_of(layers: Layers, *, staged: bool) -> list[presenters.Wire]:
    """The modules of a post in every layer; one more statement where one is shared."""
    shared_ids = {
        module.instance_id
        for document in (layers.live, layers.review.document, layers.ai_review.document)
        for module in document.modules
        if module.scope != "local"
    }
    shared: dict[str, JsonObject] = {}
    if shared_ids:
        rows = ModuleInstance.objects.filter(pk__in=shared_ids).values_list("pk", "props")
        shared = {str(pk): props for pk, props in rows}
    return presenters.layered_modules(layers, shared, may_see_staged=staged)


def present(post: Post) -> JsonObject:
    """The post as it stands after a write."""
    post = require_post(post.pk)
    return whole_post(post, open_layers(post), staged=True)
