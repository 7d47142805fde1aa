"""Responses of the post endpoints, read from the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from uuid import UUID

import django_filters
import orjson
from django.conf import settings
from django.db.models import QuerySet

from content import presenters
from content.layers import Layers
from content.models import Layer, ModuleInstance, Post, Status
from content.store import post_queries, search
from content.store.layered_post import LayeredPost, read_layered_post
from content.store.media_usage import media_of
from content.store.scopes import post_not_found, require_visible, visible_to
from proofroom.core.actor import Actor
from proofroom.core.api.pagination import HasQuery, page_of
from proofroom.core.content_scope import Scoped, reading_scopes
from proofroom.core.database.compiled_queries import Row
from proofroom.core.database.row_counts import RowCount, count_rows
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.search import RankedInstances
from proofroom.core.site_urls import absolute
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import post_types


def _types() -> list[tuple[str, str]]:
    return [(name, name) for name in post_types.names()]


def _locales() -> list[tuple[str, str]]:
    return [(locale, locale) for locale in settings.CMS_ENV.locales]


class PublicPostFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    """The public filter, for live values only. Without `locale` and `allLocales`, the default locale."""

    type = django_filters.ChoiceFilter(choices=_types)
    locale = django_filters.ChoiceFilter(choices=_locales)
    slug = django_filters.CharFilter(max_length=200)
    taxonomy = django_filters.CharFilter(method="by_term", max_length=200)
    search = django_filters.CharFilter(method="as_is", max_length=200)  # see `filter_posts`
    allLocales = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="as_is"
    )

    class Meta:
        model = Post
        fields: list[str] = []  # required by django-filter

    def by_term(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return post_queries.filter_by_term(posts, value)

    def as_is(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return posts


class ManagedPostFilter(PublicPostFilter):
    """The management filter, which also filters by staged changes."""

    status = django_filters.ChoiceFilter(choices=Status.choices)
    hasReview = django_filters.ChoiceFilter(  # the API name
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )
    hasAiReview = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )

    def by_layer(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        layer = Layer.REVIEW if name == "hasReview" else Layer.AI_REVIEW
        waiting = post_queries.has_changes_in(layer)
        return posts.filter(waiting) if value == "true" else posts.exclude(waiting)


def filter_class(staged: bool) -> type[PublicPostFilter]:
    return ManagedPostFilter if staged else PublicPostFilter


def filters_of(request: HasQuery, *, staged: bool) -> dict[str, str]:
    """Return the filter values in the query. Usually there are none, and then the slow filter form isn't built."""
    names = filter_class(staged).base_filters
    params = request.query_params
    return {name: params[name] for name in names if name in params}


def filter_posts(
    request: HasQuery, posts: QuerySet[Post], *, staged: bool
) -> QuerySet[Post] | RankedInstances[Post]:
    """Return the posts that match the query, in its order; 422 for an invalid value.

    Staged changes can only be filtered with `staged`. A search without `ordering` sorts by relevance.
    """
    params = request.query_params
    found = filter_class(staged)(params, queryset=posts)
    errors: dict[str, list[str]] = {}
    for name, texts in found.form.errors.items():
        choices = getattr(found.form.fields[name], "choices", ())
        allowed = ", ".join(str(value) for value, _ in choices if value)
        errors[name] = [str(text) for text in texts]
        if allowed:
            errors[name] = [f"{name} must be one of: {allowed}."]
    ordering = ordering_of(request, errors)
    posts = found.qs
    locale = locale_of(params)
    if locale is not None and not params.get("locale"):
        posts = posts.filter(locale=locale)
    words = found.form.cleaned_data["search"]
    if words:
        with_words = search.find_posts(posts, words, locale, shown=post_queries.listed_rows)
        if "ordering" not in params:
            return with_words
        posts = with_words.matching()
    return post_queries.order_posts(posts, ordering)


def locale_of(params: Mapping[str, str]) -> str | None:
    """Return the locale of all listed posts, or None if there are several."""
    if params.get("locale"):
        return params["locale"]
    return None if params.get("allLocales") == "true" else settings.CMS_ENV.default_locale


def ordering_of(request: HasQuery, errors: Mapping[str, list[str]] | None = None) -> str:
    """Return the order from the query; 422 with all `errors` if there are any."""
    found = dict(errors or {})
    ordering = request.query_params.get("ordering", post_queries.NEWEST_FIRST)
    if ordering.removeprefix("-") not in post_queries.ORDERINGS:
        found["ordering"] = [
            f"Order by one of: {', '.join(post_queries.ORDERINGS)}; - before it reverses."
        ]
    if found:
        name, sentences = next(iter(found.items()))
        message = sentences[0]
        raise RuleViolation(
            message if message.startswith(name) else f"{name}: {message}", details=found
        )
    return ordering


def post_list(
    request: HasQuery,
    *,
    actor: Actor | None = None,
    fields: Collection[str] | None = None,
    total: RowCount | None = None,
) -> JsonObject:
    """Return a page of posts with their live modules: posts visible to the actor, or published ones without an
    actor.

    `fields` selects keys of each post. Without `total`, the rows are counted. One statement; three with filters
    or a scope; one more each for files and for an estimated count.
    """
    page, staged = page_of(request), actor is not None
    has_media = fields is not None and "media" in fields
    wanted: dict[post_queries.Part, bool] = {
        "live_modules": fields is None or "modules" in fields,
        "staged_layers": staged,
        "global_ids": has_media,
    }
    parts = frozenset(part for part, is_wanted in wanted.items() if is_wanted)
    if filters_of(request, staged=staged) or (actor is not None and reading_scopes(actor)):
        posts = (
            post_queries.published_posts()
            if actor is None
            else visible_to(post_queries.listed_posts(), actor)
        )
        found = filter_posts(request, posts, staged=staged)
        if total is None:
            total = (
                RowCount(found.count()) if isinstance(found, RankedInstances) else count_rows(found)
            )
        rows: list[Row] = (
            found[page.slice]
            if isinstance(found, RankedInstances)
            else list(post_queries.listed_rows(post_queries.part_of(found, page.slice)))
        )
        post_queries.add_parts(rows, parts)
    else:
        rows, total = post_queries.page_of(
            settings.CMS_ENV.default_locale,
            ordering_of(request),
            page.slice,
            only_published=not staged,
            total=total,
            parts=parts,
        )
    posts_on_wire = [presenters.listed_post(row) for row in rows]
    if has_media:
        shared = {
            (row["id"], UUID(instance_id))
            for row in rows
            for instance_id in orjson.loads(row["global_ids"])
        }
        media = media_of({row["id"]: row["locale"] for row in rows}, shared)
        posts_on_wire = [{**wire, "media": media[wire["id"]]} for wire in posts_on_wire]
    if fields is not None:
        posts_on_wire = [select_fields(wire, fields) for wire in posts_on_wire]
    return page.envelope(posts_on_wire, total)


def select_fields(wire: presenters.Wire, fields: Collection[str]) -> presenters.Wire:
    """Return a post with only the requested fields."""
    return {name: value for name, value in wire.items() if name in fields}


def require_post(post_id: UUID | str, actor: Actor) -> Post:
    """Return the post with this id. Raises `NotFound` if it is in the trash or not visible to the actor."""
    id_ = parse_uuid(post_id)
    found = post_queries.find_post_with_author(id_) if id_ is not None else None
    if found is None:
        raise post_not_found(post_id)
    require_visible(found, actor)
    return found


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
    wire = presenters.post_fields(post)
    author = post.author
    wire["author"] = {"id": author.pk, "username": author.username} if author is not None else None
    wire["taxonomyTermIds"] = list(layers.live.taxonomy_term_ids)
    wire["translations"] = (
        presenters.translations(post_queries.visible_translations(post, who))
        if translations is None
        else [{"id": id_, "locale": locale} for id_, locale in translations]
    )
    wire["modules"] = modules_of(layers, staged=staged, known=shared or {})
    if staged:
        describe_variation: presenters.Wire = {
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
        wire["layers"] = presenters.layer_states(
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
) -> list[presenters.Wire]:
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
    return presenters.layered_modules(layers, shared, may_see_staged=staged)


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


def present(post: Post, who: Scoped) -> JsonObject:
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
