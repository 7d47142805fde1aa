"""Find published posts that search engines would find wanting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_noop

from content.models import Post
from content.posts.queries import published_posts

_POSTS_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class ContentProblem:
    """A kind of problem: how many posts have it, and the first of them."""

    sentence: str
    number: int
    posts: list[Post]


def find_content_problems() -> list[ContentProblem]:
    """The kinds of problems that there are, of three. At most six queries."""
    posts = published_posts().only("pk", "title", "path", "locale").order_by("title", "pk")
    without = posts.filter(Q(meta_description__isnull=True) | Q(meta_description=""), excerpt="")
    groups = published_posts().annotate(name=Lower("title")).values("locale", "name")
    twice = groups.order_by().annotate(number=Count("pk")).filter(number__gt=1)
    named = posts.annotate(name=Lower("title"))
    doubles = named.filter(name__in=twice.values("name")).filter(locale__in=twice.values("locale"))
    # An object with `index: false`; text of that key is none.
    hidden = posts.filter(robots_json__index=False)
    kinds = [
        (gettext_noop("published without a meta description and without an excerpt."), without),
        (gettext_noop("published with the title of another one in the same language."), doubles),
        (gettext_noop("published, but kept from search engines (noindex)."), hidden),
    ]
    counted = [(sentence, rows.count(), rows) for sentence, rows in kinds]
    return [
        ContentProblem(sentence, number, list(rows[:_POSTS_SHOWN]))
        for sentence, number, rows in counted
        if number
    ]
