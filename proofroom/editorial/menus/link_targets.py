"""What a menu may lead to: posts, the pages that list them, and the pages of terms; searched by title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.db.models import Case, IntegerField, Q, Value, When

from content.models import Post, Status, Term
from content.review.labels import type_label
from proofroom.core.i18n import in_words
from proofroom.definitions import post_types
from proofroom.definitions.list_urls import IndexPage, list_title
from proofroom.editorial.menus.item_rows import MenuRow

_MOST_POSTS: Final = 8
_MOST_TERMS: Final = 6
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """One thing that was found; `key` is what its button sends."""

    key: str
    title: str
    where: str
    kind: str
    is_live: bool = True


def targets(words: str, locale: str) -> list[LinkTarget]:
    """What the words are found in, in the language first. Two queries."""
    words = words.replace("\x00", "").strip()[:_LONGEST]
    lists = [
        LinkTarget(f"list:{found.name}", list_title(found.name), path, in_words(found.label))
        for found in post_types
        if (path := IndexPage(found.name, locale).path)
        and words.lower() in list_title(found.name).lower()
    ]
    return [*_posts(words, locale), *lists, *_terms(words, locale)]


def _posts(words: str, locale: str) -> list[LinkTarget]:
    own = Case(When(locale=locale, then=Value(0)), default=Value(1), output_field=IntegerField())
    live = Case(When(status=Status.PUBLISHED, then=Value(0)), default=Value(1))
    found = Post.objects.alive().filter(is_placeholder=False, variation_of=None)
    if words:
        found = found.filter(Q(title__icontains=words) | Q(slug__icontains=words))
    rows = found.order_by(own, live, "-updated_at").only("title", "path", "type", "status")
    return [
        LinkTarget(
            f"post:{post.pk}",
            post.title,
            post.path,
            type_label(post.type),
            post.status == Status.PUBLISHED,
        )
        for post in rows[:_MOST_POSTS]
    ]


def _terms(words: str, locale: str) -> list[LinkTarget]:
    if not words:
        return []
    found = Term.objects.filter(name__icontains=words, locale__in=["", locale])
    return [
        LinkTarget(f"term:{type_}:{term.pk}", term.name, path, term.taxonomy)
        for term in found.order_by("name")[:_MOST_TERMS]
        for type_, path in _lists_of(term, locale)
    ]


def _lists_of(term: Term, locale: str) -> list[tuple[str, str]]:
    """The pages that list the posts of a type with the term."""
    return [
        (found.name, path)
        for found in post_types
        if term.taxonomy in {use.slug for use in found.taxonomies}
        and (path := IndexPage(found.name, locale, term.taxonomy, term.slug).path)
    ]


def row_for(key: str, locale: str) -> MenuRow | None:
    """A new item that leads to what the key names; None where that is not there."""
    kind, _, rest = key.partition(":")
    if kind == "post" and (post := _post(rest)):
        return MenuRow(str(uuid4()), 0, type="post", url=post.path, post_id=str(post.pk))
    if kind == "list" and (path := IndexPage(rest, locale).path):
        return MenuRow(str(uuid4()), 0, label=list_title(rest), url=path)
    if kind == "term":
        type_, _, id_ = rest.partition(":")
        term = Term.objects.filter(pk=uuid).first() if (uuid := _uuid(id_)) else None
        lists = dict(_lists_of(term, locale)) if term else {}
        if term and type_ in lists:
            return MenuRow(str(uuid4()), 0, label=term.name, url=lists[type_])
    return None


def _post(id_: str) -> Post | None:
    return Post.objects.alive().filter(pk=uuid).first() if (uuid := _uuid(id_)) else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
