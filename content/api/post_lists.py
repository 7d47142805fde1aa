"""Lists of posts: filters, orders and pages of the endpoints, read from the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from uuid import UUID

import django_filters
import orjson
from django.conf import settings
from django.db.models import QuerySet

from content import presenters
from content.document.post_fields import MAX_ID
from content.models import Layer, Post, Status
from content.presenters.delivered_texts import StoredContent, TextFormat, present_stored
from content.store import post_queries, search
from content.store.list_filters import OrderKey, order_by_keys
from content.store.media_usage import media_of
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.api.pagination import HasQuery, page_of
from proofroom.core.content_scope import reading_scopes
from proofroom.core.database.compiled_queries import Row
from proofroom.core.database.row_counts import RowCount, count_rows
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.search import RankedInstances
from proofroom.definitions import post_types


def _types() -> list[tuple[str, str]]:
    return [(name, name) for name in post_types.names()]


def _locales() -> list[tuple[str, str]]:
    return [(locale, locale) for locale in settings.CMS_ENV.locales]


class PublicPostFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    """The public filter, for live values only. Without `locale` and `allLocales`, the default locale."""

    type = django_filters.ChoiceFilter(choices=_types)
    locale = django_filters.ChoiceFilter(choices=_locales, method="by_locale")
    fallback = django_filters.ChoiceFilter(choices=_locales, method="as_is")  # see `by_locale`
    slug = django_filters.CharFilter(max_length=200)
    taxonomy = django_filters.CharFilter(method="by_term", max_length=200)
    search = django_filters.CharFilter(method="as_is", max_length=200)  # see `filter_posts`
    allLocales = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="as_is"
    )

    class Meta:
        model = Post
        fields: list[str] = []  # required by django-filter

    def by_locale(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return post_queries.in_locale(posts, value, self.data.get("fallback") or None)

    def by_term(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return post_queries.filter_by_term(posts, value)

    def as_is(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return posts


class ManagedPostFilter(PublicPostFilter):
    """The management filter, which also filters by staged changes."""

    fallback = None  # of published posts only
    status = django_filters.ChoiceFilter(choices=Status.choices)
    author = django_filters.NumberFilter(
        method="by_author", min_value=1, max_value=MAX_ID, decimal_places=0
    )
    hasReview = django_filters.ChoiceFilter(  # the API name
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )
    hasAiReview = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )

    def by_author(self, posts: QuerySet[Post], name: str, value: Decimal) -> QuerySet[Post]:
        return post_queries.filter_by_author(posts, int(value))

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
    request: HasQuery,
    posts: QuerySet[Post],
    *,
    staged: bool,
    order: Sequence[OrderKey] | None = None,
) -> QuerySet[Post] | RankedInstances[Post]:
    """Return the posts that match the query, in its order or in `order`; 422 for an invalid value.

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
    ordering = ordering_of(request, errors, is_checked=order is not None)
    posts = found.qs
    locale = locale_of(params)
    if locale is not None and not params.get("locale"):
        posts = post_queries.in_locale(posts, locale, params.get("fallback") or None)
    words = found.form.cleaned_data["search"]
    if words:
        with_words = search.find_posts(posts, words, locale, shown=post_queries.listed_rows)
        if "ordering" not in params:
            return with_words
        posts = with_words.matching()
    if order is not None:
        return order_by_keys(posts, order)
    return post_queries.order_posts(posts, ordering)


def locale_of(params: Mapping[str, str]) -> str | None:
    """Return the locale of all listed posts, or None if there are several. `ids` are of any locale."""
    if params.get("locale"):
        return params["locale"]
    if params.get("allLocales") == "true" or "ids" in params:
        return None
    return settings.CMS_ENV.default_locale


def ordering_of(
    request: HasQuery,
    errors: Mapping[str, list[str]] | None = None,
    *,
    is_checked: bool = False,
) -> str:
    """Return the order from the query; 422 with all `errors` if there are any.

    With `is_checked`, the caller has read the order, and only the errors are raised.
    """
    found = dict(errors or {})
    ordering = request.query_params.get("ordering", post_queries.NEWEST_FIRST)
    if not is_checked and ordering.removeprefix("-") not in post_queries.ORDERINGS:
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
    text_format: TextFormat = "json",
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
    if not staged:
        present_modules(rows, posts_on_wire, text_format)
    if has_media:
        posts_on_wire = add_media(posts_on_wire, rows)
    if fields is not None:
        posts_on_wire = [select_fields(wire, fields) for wire in posts_on_wire]
    if not staged:
        posts_on_wire = mark_fallbacks(posts_on_wire, rows, request.query_params)
    return page.envelope(posts_on_wire, total)


def add_media(
    posts_on_wire: Sequence[presenters.Wire], rows: Sequence[Row]
) -> list[presenters.Wire]:
    """Return the posts with their files, from rows with `global_ids`. One query."""
    shared = {
        (row["id"], UUID(instance_id))
        for row in rows
        for instance_id in orjson.loads(row["global_ids"])
    }
    media = media_of({row["id"]: row["locale"] for row in rows}, shared)
    return [{**wire, "media": media[wire["id"]]} for wire in posts_on_wire]


def mark_fallbacks(
    posts_on_wire: list[presenters.Wire], rows: Sequence[Row], params: Mapping[str, str]
) -> list[presenters.Wire]:
    """Return the posts with `isFallback` if the query has a fallback language."""
    if not params.get("fallback"):
        return posts_on_wire
    wanted = locale_of(params)
    return [
        {**wire, "isFallback": wanted is not None and row["locale"] != wanted}
        for wire, row in zip(posts_on_wire, rows, strict=True)
    ]


def present_modules(
    rows: Sequence[Row], posts: Sequence[presenters.Wire], text_format: TextFormat
) -> None:
    """Replace the modules of listed posts by their form of the delivery API."""
    with_modules = [
        (row, post) for row, post in zip(rows, posts, strict=True) if "live_modules" in row
    ]
    contents = [
        StoredContent(row["id"], row["type"], row["live_modules"]) for row, _ in with_modules
    ]
    presented = present_stored(contents, text_format)
    for (_row, post), content in zip(with_modules, presented, strict=True):
        if content is not None:
            post["modules"] = content["modules"]


def select_fields(wire: presenters.Wire, fields: Collection[str]) -> presenters.Wire:
    """Return a post with only the requested fields."""
    return {name: value for name, value in wire.items() if name in fields}
