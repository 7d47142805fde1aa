"""Search against `icontains` over the same words: a page of twenty with its count, as a list asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from content import search
from content.models import Post, PostModule
from content.posts import queries

QUESTIONS = {"one post": "9990", "one in a hundred": "garden 12", "every post": "garden kettle"}
TIMES = 5
LOCALE = "en"


@dataclass(frozen=True, slots=True)
class Found:
    question: str
    posts: int
    milliseconds: float
    without: float

    @property
    def ratio(self) -> float:
        """How many times longer `icontains` takes."""
        return self.without / self.milliseconds


def measure() -> list[Found]:
    """The medians of five, one way and the other in turn."""
    found = []
    for question, words in QUESTIONS.items():
        pairs = [(_taken(_ranked, words), _taken(_holding, words)) for _ in range(TIMES)]
        with_, without = (median(values) for values in zip(*pairs, strict=True))
        found.append(Found(question, _ranked(words).count(), 1000 * with_, 1000 * without))
    return found


def _taken(ask: Callable[[str], QuerySet[Any]], words: str) -> float:
    begin = time.perf_counter()
    posts = ask(words)
    posts.count()
    list(posts.values(*queries.LIST_COLUMNS)[:20])
    return time.perf_counter() - begin


def _ranked(words: str) -> QuerySet[Post]:
    posts = queries.published_posts().filter(locale=LOCALE)
    return search.order_by_rank(search.search_posts(posts, words, LOCALE))


def _holding(words: str) -> QuerySet[Post]:
    posts = queries.published_posts().filter(locale=LOCALE)
    text = Cast("instance__props", TextField())
    modules = PostModule.objects.filter(post=OuterRef("pk")).annotate(text=text)
    for word in words.split():
        in_module = Exists(modules.filter(text__icontains=word))
        posts = posts.filter(Q(title__icontains=word) | Q(excerpt__icontains=word) | in_module)
    return queries.order_posts(posts, "-updatedAt")
