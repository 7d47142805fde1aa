"""Previews what a pattern would do to the addresses of posts, before anybody keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.models import Post, Status
from content.paths.pattern_changes import tree_of
from content.paths.post_paths import fill_pattern, find_posts_at, refuse_reserved, slugs_in
from content.rules.url_patterns import clean_pattern
from proofroom.core.errors import RuleViolation

MAX_POSTS_READ: Final = 2_000
"""Posts that are looked at, the newest first; keeping the pattern looks at all."""
_MOST_SHOWN: Final = 6
_MOST_PROBLEMS: Final = 5


@dataclass(frozen=True, slots=True)
class Example:
    title: str
    before: str
    after: str
    is_live: bool


@dataclass(slots=True)
class Examples:
    """`moving` posts get another address, `leading` old ones lead on because visitors know them."""

    shown: list[Example] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    total: int = 0
    moving: int = 0
    leading: int = 0
    is_whole: bool = True


def preview_pattern(type_name: str, locale: str, pattern: str) -> Examples:
    """Real posts at their present address and at that of the pattern, and what stands in its way."""
    found = Examples()
    try:
        clean_pattern(pattern)
    except RuleViolation as error:
        found.problems.append(error.message)
        return found
    posts = Post.objects.alive().filter(type=type_name, locale=locale, variation_of=None)
    found.total = posts.count()
    found.is_whole = found.total <= MAX_POSTS_READ
    wanted = _look(found, posts, pattern)
    for other in find_posts_at(wanted):
        if (other.type, other.locale) != (type_name, locale):
            _same(found, wanted[other.path], other)
    return found


def _look(found: Examples, posts: QuerySet[Post], pattern: str) -> dict[str, Post]:
    """Count and show what moves. Answers the posts by the addresses that they would have."""
    wanted: dict[str, Post] = {}
    rows = posts.order_by("-updated_at").defer("jsonld_overrides", "custom_fields")[:MAX_POSTS_READ]
    tree = None
    for post in rows:
        tree = tree_of(post.type, post.locale) if tree is None else tree
        before = post.path
        try:
            post.path = fill_pattern(pattern, post, slugs_in(tree, post))
            refuse_reserved("pattern", post)
        except RuleViolation as error:
            _say(found, error.message)
            continue
        if post.path in wanted:
            _same(found, post, wanted[post.path])
        wanted[post.path] = post
        if before != post.path:
            is_live = post.status == Status.PUBLISHED
            found.moving += 1
            found.leading += bool(before and post.published_at)
            if len(found.shown) < _MOST_SHOWN:
                found.shown.append(Example(post.title, before, post.path, is_live))
    return wanted


def _same(found: Examples, post: Post, other: Post) -> None:
    said = _("“%(one)s” and “%(other)s” would have the same address %(path)s.")
    _say(found, said % {"one": post.title, "other": other.title, "path": post.path})


def _say(found: Examples, problem: str) -> None:
    if len(found.problems) < _MOST_PROBLEMS and problem not in found.problems:
        found.problems.append(problem)
