"""What a list of posts can be filtered by: an allow-list, nothing else reaches the database."""

from __future__ import annotations

from collections.abc import Mapping

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from rest_framework.request import Request

from content.models import Layer, Post, Status
from content.posts import queries
from content.search import posts as search
from proofroom.core.errors import RuleViolation
from proofroom.definitions import post_types

NEWEST_FIRST = "-updatedAt"


def _types() -> list[tuple[str, str]]:
    return [(name, name) for name in post_types.names()]


def _locales() -> list[tuple[str, str]]:
    return [(locale, locale) for locale in settings.CMS_ENV.locales]


class PublicPostFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    """What anybody may filter by: live values only. Without `locale` and `allLocales`, the default locale."""

    type = django_filters.ChoiceFilter(choices=_types)
    locale = django_filters.ChoiceFilter(choices=_locales)
    slug = django_filters.CharFilter(max_length=200)
    taxonomy = django_filters.CharFilter(method="by_term", max_length=200)
    search = django_filters.CharFilter(method="by_words", max_length=200)
    allLocales = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="as_is"
    )

    class Meta:
        model = Post
        fields: list[str] = []  # django-filter reads it so

    def by_term(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return queries.with_term(posts, value)

    def by_words(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return search.matching(posts, value, locale_of(self.data))

    def as_is(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return posts


class ManagedPostFilter(PublicPostFilter):
    """The spec's filters, with those that tell what is staged."""

    status = django_filters.ChoiceFilter(choices=Status.choices)
    hasReview = django_filters.ChoiceFilter(  # the name on the wire
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )
    hasAiReview = django_filters.ChoiceFilter(
        choices=[("true", "true"), ("false", "false")], method="by_layer"
    )

    def by_layer(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        layer = Layer.REVIEW if name == "hasReview" else Layer.AI_REVIEW
        waiting = queries.waiting_in(layer)
        return posts.filter(waiting) if value == "true" else posts.exclude(waiting)


def is_filtered(request: Request, *, staged: bool) -> bool:
    """Whether a list is asked for anything but its order. Most are not, and building the form is slow."""
    return any(name in request.query_params for name in _shape(staged).base_filters)


def filtered(request: Request, posts: QuerySet[Post], *, staged: bool) -> QuerySet[Post]:
    """The posts that the query asks for, in its order; 422 on a value that does not fit.

    Without `staged`, nothing that waits in a layer can be asked about. Words without an order of their own come
    by how well a post fits them.
    """
    params = request.query_params
    found = _shape(staged)(params, queryset=posts)
    errors = {
        name: _allowed(found, name) or [str(text) for text in texts]
        for name, texts in found.form.errors.items()
    }
    ordering = ordering_of(request, errors)
    posts = found.qs
    locale = locale_of(params)
    if locale is not None and not params.get("locale"):
        posts = posts.filter(locale=locale)
    if found.form.cleaned_data["search"] and "ordering" not in params:
        return search.by_rank(posts)
    return queries.ordered(posts, ordering)


def _allowed(found: PublicPostFilter, name: str) -> list[str]:
    """The sentence that names what is allowed, where that can be named."""
    choices = getattr(found.form.fields[name], "choices", ())
    named = ", ".join(str(value) for value, _ in choices if value)
    return [f"{name} must be one of: {named}."] if named else []


def locale_of(params: Mapping[str, str]) -> str | None:
    """The locale that all posts of the list have; None where there are several."""
    if params.get("locale"):
        return params["locale"]
    return None if params.get("allLocales") == "true" else settings.CMS_ENV.default_locale


def ordering_of(request: Request, errors: Mapping[str, list[str]] | None = None) -> str:
    """The order that the query asks for; 422 with all `errors` where there are any."""
    found = dict(errors or {})
    ordering = request.query_params.get("ordering", NEWEST_FIRST)
    if ordering.removeprefix("-") not in queries.ORDERINGS:
        found["ordering"] = [
            f"Order by one of: {', '.join(queries.ORDERINGS)}; - before it reverses."
        ]
    if found:
        name, sentences = next(iter(found.items()))
        said = sentences[0]
        raise RuleViolation(said if said.startswith(name) else f"{name}: {said}", details=found)
    return ordering


def _shape(staged: bool) -> type[PublicPostFilter]:
    return ManagedPostFilter if staged else PublicPostFilter
