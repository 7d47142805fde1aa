"""What a list of posts can be filtered by: an allow-list, nothing else reaches the database."""

from __future__ import annotations

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from rest_framework.request import Request

from content import queries
from content.definitions import post_types
from content.models import Layer, Post, Status
from core.errors import RuleViolation


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
        return queries.matching(posts, value)

    def as_is(self, posts: QuerySet[Post], name: str, value: str) -> QuerySet[Post]:
        return posts


class PostFilter(PublicPostFilter):
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


def filtered(request: Request, posts: QuerySet[Post], *, staged: bool) -> QuerySet[Post]:
    """The posts that the query asks for, in its order; 422 on a value that does not fit.

    Without `staged`, nothing that waits in a layer can be asked about.
    """
    params = request.query_params
    shape = PostFilter if staged else PublicPostFilter
    errors: dict[str, list[str]] = {}
    if any(name in params for name in shape.base_filters):  # building its form costs most of a list
        found = shape(params, queryset=posts)
        errors = {name: [str(text) for text in texts] for name, texts in found.form.errors.items()}
        posts = posts if errors else found.qs
    ordering = params.get("ordering", "-updatedAt")
    if ordering.removeprefix("-") not in queries.ORDERINGS:
        errors["ordering"] = [
            f"Order by one of: {', '.join(queries.ORDERINGS)}; - before it reverses."
        ]
    if errors:
        name, sentences = next(iter(errors.items()))
        raise RuleViolation(f"{name}: {sentences[0]}", details=errors)
    if not params.get("locale") and params.get("allLocales") != "true":
        posts = posts.filter(locale=settings.CMS_ENV.default_locale)
    return queries.ordered(posts, ordering)
