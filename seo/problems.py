"""What search engines would find wanting in published posts. Counts, and some of the posts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop

from content.models import Post
from content.queries import published_posts

_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of problem: how many posts have it, and the first of them."""

    sentence: str
    number: int
    posts: list[Post]


def problems() -> list[Problem]:
    """Three kinds, in at most six queries."""
    posts = published_posts().only("pk", "title", "path", "locale").order_by("title", "pk")
    without = posts.filter(Q(meta_description__isnull=True) | Q(meta_description=""), excerpt="")
    # An object with `index: false`; text of that key is none.
    hidden = posts.filter(robots_json__index=False)
    return [
        *_found(
            gettext_noop("published without a meta description and without an excerpt."), without
        ),
        *_found(
            gettext_noop("published with the title of another one in the same language."),
            _doubles(posts),
        ),
        *_found(gettext_noop("published, but kept from search engines (noindex)."), hidden),
    ]


def _doubles(posts: QuerySet[Post]) -> QuerySet[Post]:
    named = posts.annotate(name=Lower("title"))
    groups = published_posts().annotate(name=Lower("title")).values("locale", "name")
    twice = groups.order_by().annotate(number=Count("pk")).filter(number__gt=1)
    return named.filter(name__in=twice.values("name")).filter(locale__in=twice.values("locale"))


def _found(sentence: str, posts: QuerySet[Post]) -> Iterable[Problem]:
    number = posts.count()
    if number:
        yield Problem(sentence, number, list(posts[:_SHOWN]))
