"""Reads of content that more than one caller needs: plain rows, no model objects on hot paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from content.models import (
    Draft,
    Layer,
    Menu,
    ModuleInstance,
    Post,
    PostModule,
    PostTerm,
    Term,
)
from core.errors import invalid

LIST_COLUMNS: Final = (
    "id",
    "type",
    "locale",
    "slug",
    "title",
    "excerpt",
    "status",
    "path",
    "parent_id",
    "order_index",
    "featured_media_id",
    "version",
    "created_at",
    "updated_at",
    "published_at",
)
ORDERINGS: Final[Mapping[str, str]] = {
    "updatedAt": "updated_at",
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "title",
    "slug": "slug",
    "orderIndex": "order_index",
}

Row = dict[str, Any]


def visible_posts() -> QuerySet[Post]:
    """Posts that are not in the trash."""
    return Post.objects.filter(deleted_at__isnull=True)


def published_posts() -> QuerySet[Post]:
    """Posts that anybody may see."""
    return visible_posts().filter(status="published", is_placeholder=False)


def waiting_in(layer: Layer) -> Exists:
    """Whether a post has something staged in a layer, as a filter."""
    return Exists(Draft.objects.filter(post=OuterRef("pk"), layer=layer, is_empty=False))


def with_term(posts: QuerySet[Post], term: str) -> QuerySet[Post]:
    """Posts that carry a term: its slug, or `taxonomySlug:termSlug`."""
    taxonomy, _, slug = term.rpartition(":")
    terms = Term.objects.filter(slug=slug, **({"taxonomy": taxonomy} if taxonomy else {}))
    return posts.filter(Exists(PostTerm.objects.filter(post=OuterRef("pk"), term__in=terms)))


def matching(posts: QuerySet[Post], words: str) -> QuerySet[Post]:
    """Posts whose title, excerpt or content holds every word."""
    for word in words.split()[:10]:
        posts = posts.filter(Q(title__icontains=word) | Q(search_text__icontains=word))
    return posts


def ordered(posts: QuerySet[Post], ordering: str) -> QuerySet[Post]:
    """Posts by one of `ORDERINGS`, `-` before it for descending; the id settles ties."""
    name = ordering.lstrip("-")
    sign = "-" if ordering.startswith("-") else ""
    return posts.order_by(f"{sign}{ORDERINGS[name]}", "id")


def module_rows(post_ids: Iterable[UUID]) -> dict[UUID, list[Row]]:
    """The live modules of posts, in order, by post; props and overrides as JSON text. One query."""
    rows = (
        PostModule.objects.filter(post_id__in=list(post_ids))
        .order_by("post_id", "order_index", "id")
        .values(
            "id",
            "post_id",
            "instance_id",
            "order_index",
            "locked",
            "instance__type",
            "instance__scope",
            "instance__global_slug",
            props_text=Cast("instance__props", TextField()),
            overrides_text=Cast("overrides", TextField()),
        )
    )
    found: dict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["post_id"]].append(dict(row))
    return found


def layer_rows(post_ids: Iterable[UUID]) -> dict[UUID, dict[str, Row]]:
    """What is staged, by post and layer: version, when, by whom. One query."""
    rows = Draft.objects.filter(post_id__in=list(post_ids), is_empty=False).values(
        "post_id", "layer", "version", "updated_at", "updated_by_id", "updated_by__username"
    )
    found: dict[UUID, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        found[row["post_id"]][row["layer"]] = dict(row)
    return found


def translations_of(post: Post, *, only_published: bool = False) -> list[Row]:
    """The other posts of the translation group."""
    posts = published_posts() if only_published else visible_posts()
    rows = posts.filter(translation_group=post.translation_group).exclude(pk=post.pk)
    return [dict(row) for row in rows.order_by("locale").values("id", "locale")]


def menu(slug: str, locale: str, default_locale: str) -> Menu | None:
    """The menu of that slug in the locale, else in the default locale."""
    found = {
        row.locale: row
        for row in Menu.objects.filter(slug=slug, locale__in=[locale, default_locale])
    }
    return found.get(locale) or found.get(default_locale)


def shared_module(slug: str | None, scope: str | None) -> tuple[str, str] | None:
    """The slug and instance id of a global module. Raises `RuleViolation` where there is none."""
    if slug is None:
        if scope == "global":
            raise invalid("globalSlug", "A global module is placed by its globalSlug.")
        return None
    row = ModuleInstance.objects.filter(scope="global", global_slug=slug).first()
    if row is None:
        raise invalid("globalSlug", f"There is no global module {slug!r}.", code="unknown_global")
    return slug, str(row.pk)
