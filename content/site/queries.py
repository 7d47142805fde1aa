"""What the public site reads. Published, approved, undeleted posts only, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import JSONField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from content.models import Menu, Post, PostModule, Term
from content.queries import published_posts
from content.site.rendering import RenderableModule
from core.json import Json
from core.json_list import JSONList
from core.models import ContentVersion
from core.statements import Statement, columns_of, instance
from media.models import Asset

MENUS = ("main", "footer")
MenuItems = Sequence[Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another post that a page may link to, as far as links need it."""

    id: str
    locale: str
    title: str
    path: str
    group: UUID
    is_published: bool


@dataclass(frozen=True, slots=True)
class FoundPost:
    """A post to show, with its terms in order and the content version that it was read at."""

    post: Post
    terms: Sequence[Term]
    version: int


_VERSION: Final = ContentVersion.objects.filter(pk=1).values("number")
_PAGE: Final = Statement(
    lambda path, locale: (
        _at(path, locale)
        .annotate(content_version=Coalesce(Subquery(_VERSION), 0), terms=_terms())
        .values(
            *columns_of(Post),
            *(f"featured_media__{name}" for name in columns_of(Asset)),
            "content_version",
            "terms",
        )[:1]
    )
)
_MODULES: Final = Statement(
    lambda post_id: (
        PostModule.objects.filter(post_id=post_id)
        .order_by("order_index", "id")
        .values("id", "overrides", "instance__type", "instance__props")
    )
)
_TERM_COLUMNS: Final = columns_of(Term)
_MENUS: Final = Statement(
    lambda locale, default: (
        Menu.objects.filter(slug__in=MENUS)
        .filter(Q(locale=locale) | Q(locale=default))
        .values("slug", "locale", "items")
    )
)


def find_post(path: str, locale: str) -> FoundPost | None:
    """The published post at a path. One look-up in the path index."""
    if "\x00" in path:  # PostgreSQL refuses to look for it
        return None
    rows = _PAGE.rows(path, locale)
    if not rows:
        return None
    post = instance(Post, rows[0])
    if post.featured_media_id is not None:
        values = {name: rows[0][f"featured_media__{name}"] for name in columns_of(Asset)}
        post.featured_media = instance(Asset, values)
    return FoundPost(post, _ordered_terms(rows[0]["terms"]), rows[0]["content_version"])


def _terms() -> Subquery:
    """The terms of each post as a list in JSON: what would else be a query of its own."""
    terms = Term.objects.filter(post_terms__post=OuterRef("pk")).order_by()
    return Subquery(terms.values(all=JSONList(*_TERM_COLUMNS)), output_field=JSONField())


def _ordered_terms(rows: Sequence[Sequence[Any]] | None) -> list[Term]:
    terms = []
    for values in rows or ():
        row = dict(zip(_TERM_COLUMNS, values, strict=True))
        ids = {name: row[name] and UUID(row[name]) for name in ("id", "parent_id")}
        terms.append(instance(Term, {**row, **ids}))
    return sorted(terms, key=lambda term: (term.taxonomy, term.order_index, term.name))


def is_published_at(path: str, locale: str) -> bool:
    """Whether there is a page to lead visitors to."""
    return _at(path, locale).exists()


def _at(path: str, locale: str) -> QuerySet[Post]:
    # PostgreSQL refuses to look for a NUL, which no path holds.
    posts = published_posts() if "\x00" not in path else Post.objects.none()
    return posts.filter(path=path, locale=locale).order_by("published_at", "id")


def modules_of(post: Post) -> list[RenderableModule]:
    """The live modules in order, the post's overrides on top. One query."""
    return [
        RenderableModule(
            post_module_id=str(row["id"]),
            type=row["instance__type"],
            props={**row["instance__props"], **(row["overrides"] or {})},
            index=index,
        )
        for index, row in enumerate(_MODULES.rows(post.pk))
    ]


def menus(locale: str, default_locale: str) -> dict[str, MenuItems]:
    """The items of the site's menus: of the locale, else of the default one. One query."""
    rows = _MENUS.rows(locale, default_locale)
    found: dict[str, MenuItems] = {}
    for row in sorted(rows, key=lambda row: row["locale"] == locale):
        found[row["slug"]] = row["items"]
    return found
