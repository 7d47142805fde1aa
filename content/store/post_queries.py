"""Queries for posts with several callers. Hot paths return plain rows instead of model objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal
from uuid import UUID

import orjson
from django.db.models import (
    Exists,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, NullIf
from django.utils.translation import gettext

from content.document.post_fields import LISTED_FIELDS
from content.models import Draft, Layer, ModuleInstance, Post, PostAuthor, PostModule, PostTerm
from content.store.page_locks import HOLDER_COLUMNS
from content.store.scopes import hidden_post_ids, post_not_found, require_visible
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.content_scope import Scoped
from proofroom.core.database.compiled_queries import (
    CompiledQuery,
    Row,
    columns_of,
    instance_from_row,
)
from proofroom.core.database.json_text import (
    CompactObject,
    CompactRows,
    JSONObject,
    JSONText,
    JSONValue,
    rows_as_text,
)
from proofroom.core.database.row_counts import (
    RowCount,
    bounded_count,
    complete_count,
    count_rows,
)
from proofroom.core.errors import invalid
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions.listings import IndexPage
from proofroom.taxonomies.models import Term


def visible_titles(ids: Collection[str], actor: Actor) -> dict[str, str]:
    """Return titles by id of the posts the user may view. One query.

    Users who may restore posts also get the titles of posts in the trash.
    """
    if not actor.can("posts.view"):
        return {}
    posts = Post.objects.filter(pk__in=ids)
    if not actor.can("posts.restore"):
        posts = posts.kept()
    return {str(pk): title for pk, title in posts.values_list("pk", "title")}


_PROPOSED_TITLES: Final = CompiledQuery(
    lambda ids: (
        Draft.objects.filter(post_id__in=ids, post__is_placeholder=True, is_empty=False)
        # "review" before "ai-review": in the dict below the later title wins, and AI Review is the upper layer.
        .order_by("-layer")
        .annotate(title=KT("document__post__title"))
        .values("post_id", "title")
    )
)


def proposed_titles(ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the proposed titles of posts whose live title is a placeholder, by id. One query, none for no ids."""
    if not ids:
        return {}
    rows = _PROPOSED_TITLES.rows(list(ids))
    return {row["post_id"]: row["title"] for row in rows if row["title"]}


def posts_with_module(type_name: str) -> int:
    """Return the number of posts with a live module of the type, without the trash. One query."""
    placed = PostModule.objects.filter(instance__type=type_name, post__deleted_at__isnull=True)
    return placed.values("post_id").distinct().count()


LISTED_COLUMNS: Final[Mapping[str, str]] = {
    **{name: name for name in ("id", "type", "locale", "slug", "title")},
    **{field.name: field.column for field in LISTED_FIELDS},
    "status": "status",
    "url": "path",
    "parentId": "parent_id",
    "orderIndex": "order_index",
    "featuredMediaId": "featured_media_id",
    "version": "version",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "publishedAt": "published_at",
}
"""Columns of lists by wire name, in the order of the response."""
LIST_COLUMNS: Final = tuple(LISTED_COLUMNS.values())
_TEXT_COLUMNS: Final = {
    name: JSONText(LISTED_COLUMNS[name])
    for name in ("parentId", "featuredMediaId", "createdAt", "updatedAt", "publishedAt")
}
LISTED_NAMES: Final = tuple(
    name if name in _TEXT_COLUMNS else column for name, column in LISTED_COLUMNS.items()
)
"""Names of the `LISTED_COLUMNS` in the rows of `listed_rows`, in the same order."""
_PLAIN_COLUMNS: Final = tuple(
    column for name, column in LISTED_COLUMNS.items() if name not in _TEXT_COLUMNS
)
WIRE_MODULE: Final[Mapping[str, str | Combinable]] = {
    "postModuleId": "id",
    "moduleInstanceId": "instance_id",
    "type": "instance__type",
    "scope": "instance__scope",
    "orderIndex": "order_index",
    "locked": "locked",
    "props": "instance__props",
    "overrides": NullIf("overrides", Value({}, JSONField())),
    "globalSlug": "instance__global_slug",
}
"""Columns of a live module by wire name, as delivered to visitors."""
Part = Literal["live_modules", "staged_layers", "global_ids"]
"""An optional column of a list, as JSON text that need not be parsed in Python.

`live_modules`: live modules in wire format. `staged_layers`: staged layers, for `layers_of_text`. `global_ids`: ids
of the global modules that the post places.
"""
DEEP_FROM: Final = 200
"""Number of preceding rows from which a slice of a list is deep."""
NEWEST_FIRST: Final = "-updatedAt"
"""Default ordering: one of `ORDERINGS`, with `-` for descending order."""
ORDERINGS: Final[Mapping[str, str]] = {
    "updatedAt": "updated_at",
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "title",
    "slug": "slug",
    "orderIndex": "order_index",
}


def listed_posts() -> QuerySet[Post]:
    """Return the posts that are not in the trash, without variations (see `reachable_posts`)."""
    return Post.objects.alive()


def reachable_posts() -> QuerySet[Post]:
    """Return the posts that can be requested by id: not in the trash, with variations."""
    return Post.objects.kept()


def deleted_posts() -> QuerySet[Post]:
    """Return the posts in the trash, the last deleted first."""
    return Post.objects.filter(deleted_at__isnull=False).order_by("-deleted_at", "id")


def published_posts() -> QuerySet[Post]:
    """Return the posts that every visitor may view."""
    return listed_posts().filter(status="published", is_placeholder=False)


def shown_posts() -> QuerySet[Post]:
    """Return the posts whose content visitors may get: published ones, and running variations of them."""
    running = Post.objects.running().values("pk")
    published = Q(pk__in=published_posts().values("pk"))
    return Post.objects.filter(published | Q(pk__in=running)).order_by()


def published_at(path: str, locale: str) -> QuerySet[Post]:
    """Return the published posts at a path. Visitors get the first."""
    # PostgreSQL raises an error for a text parameter with NUL. No path contains one.
    posts = published_posts() if "\x00" not in path else Post.objects.none()
    return posts.filter(path=path, locale=locale).order_by("published_at", "id")


def list_posts_of(listing: IndexPage) -> QuerySet[Post]:
    """Return the published posts of a listing, newest first."""
    posts = published_posts().filter(type=listing.type, locale=listing.locale)
    if listing.term:
        tagged = PostTerm.objects.filter(
            post=OuterRef("pk"),
            term__taxonomy=listing.taxonomy,
            term__slug=listing.term,
            term__locale__in=("", listing.locale),
        )
        posts = posts.filter(Exists(tagged))
    return posts.order_by("-published_at", "id")


def has_changes_in(layer: Layer) -> Exists:
    """Return a filter for posts with staged changes in a layer."""
    return Exists(Draft.objects.filter(post=OuterRef("pk"), layer=layer, is_empty=False))


def in_locale(posts: QuerySet[Post], locale: str, fallback: str | None = None) -> QuerySet[Post]:
    """Return the posts in a language, and in the fallback the ones that are not published in the language."""
    if fallback is None or fallback == locale:
        return posts.filter(locale=locale)
    own = published_posts().filter(translation_group=OuterRef("translation_group"), locale=locale)
    return posts.filter(Q(locale=locale) | (Q(locale=fallback) & ~Q(Exists(own))))


def filter_by_term(posts: QuerySet[Post], term: str) -> QuerySet[Post]:
    """Return the posts with a term, given as slug or `taxonomySlug:termSlug`."""
    taxonomy, _, slug = term.rpartition(":")
    terms = Term.objects.filter(slug=slug, **({"taxonomy": taxonomy} if taxonomy else {}))
    return posts.filter(Exists(PostTerm.objects.filter(post=OuterRef("pk"), term__in=terms)))


def filter_by_author(posts: QuerySet[Post], user_id: int) -> QuerySet[Post]:
    """Return the posts that name an account as author."""
    return posts.filter(Exists(PostAuthor.objects.filter(post=OuterRef("pk"), user=user_id)))


def order_posts(posts: QuerySet[Post], ordering: str) -> QuerySet[Post]:
    """Order posts by one of `ORDERINGS`, with `-` for descending order. Ties are ordered by id."""
    name = ordering.lstrip("-")
    sign = "-" if ordering.startswith("-") else ""
    # A total order, so that no post is on two pages.
    return posts.order_by(f"{sign}{ORDERINGS[name]}", "id")


_MODULES: Final = CompiledQuery(
    lambda post_ids: (
        PostModule.objects.filter(post_id__in=post_ids)
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
)
_LAYER_COLUMNS: Final = ("version", "updated_at", "updated_by_id", "updated_by__username")
_LAYERS: Final = CompiledQuery(
    lambda post_ids: Draft.objects.filter(post_id__in=post_ids, is_empty=False).values(
        "post_id", "layer", *_LAYER_COLUMNS
    )
)
_TERMS: Final = CompiledQuery(
    lambda post_id: PostTerm.objects.filter(post_id=post_id).order_by("term_id").values("term_id")
)


_POST: Final = CompiledQuery(
    lambda post_id: (
        reachable_posts()
        .filter(pk=post_id)
        .values(*columns_of(Post), "author__username", *HOLDER_COLUMNS)
    )
)


def listed_rows(posts: QuerySet[Post]) -> QuerySet[Post, Row]:
    """Return the rows of posts for lists. Times and foreign ids have wire names and JSON format."""
    rows: QuerySet[Post, Row] = posts.values(*_PLAIN_COLUMNS, **_TEXT_COLUMNS)
    return rows


def part_of(posts: QuerySet[Post], part: slice, *, deep_from: int | None = None) -> QuerySet[Post]:
    """Return a slice of ordered posts.

    Posts ordered by a computed value are sliced directly.
    """
    least = DEEP_FROM if deep_from is None else deep_from
    if part.start < least or posts.query.annotations or posts.query.extra:
        return posts[part]
    # For a deep slice, find only the keys first: with an index on the order, the preceding rows are not read.
    return posts.filter(pk__in=posts.values("pk")[part])


def _posts_in(locale: str, only_published: bool) -> QuerySet[Post]:
    posts = published_posts() if only_published else listed_posts()
    return posts.filter(locale=locale)


@lru_cache(maxsize=256)
def _page_statement(
    ordering: str,
    begin: int,
    end: int,
    only_published: bool,
    counts: bool,
    parts: frozenset[Part],
) -> CompiledQuery:
    """Build the statement for a page of posts in a locale, with `bounded_count` as `total` if `counts`."""

    def build(locale: str) -> QuerySet[Post, Row]:
        listed = _posts_in(locale, only_published)
        # Always find the keys first if there are parts, so that the database does not build parts for skipped rows.
        deep_from = 0 if parts else None
        page = part_of(order_posts(listed, ordering), slice(begin, end), deep_from=deep_from)
        rows = listed_rows(page).annotate(**part_columns(parts))
        return rows.annotate(total=bounded_count(listed)) if counts else rows

    return CompiledQuery(build)


def _translations_statement(posts: QuerySet[Post]) -> CompiledQuery:
    return CompiledQuery(
        lambda group, post_id: (
            posts.filter(translation_group=group)
            .exclude(pk=post_id)
            .order_by("locale")
            .values("id", "locale")
        )
    )


_TRANSLATIONS: Final = _translations_statement(listed_posts())
_PUBLISHED_TRANSLATIONS: Final = _translations_statement(published_posts())


def page_of(
    locale: str,
    ordering: str,
    part: slice,
    *,
    only_published: bool,
    total: RowCount | None = None,
    parts: frozenset[Part] = frozenset(),
) -> tuple[list[Row], RowCount]:
    """Return a page of the posts of a locale as `listed_rows` with `parts`, and the total number.

    The posts are counted unless `total` is given. One query, and one more for an estimate or beyond the last page.
    """
    statement = _page_statement(
        ordering, part.start, part.stop, only_published, total is None, parts
    )
    rows = statement.rows(locale)
    if total is not None:
        return rows, total
    if rows:
        return rows, complete_count(rows[0]["total"], lambda: _posts_in(locale, only_published))
    # Beyond the last page there is no row with the total.
    return rows, count_rows(_posts_in(locale, only_published)) if part.start else RowCount(0)


def find_post_with_author(post_id: UUID) -> Post | None:
    """Return a post that is not in the trash with its author's name, or None. One query."""
    rows = _POST.rows(post_id)
    return whole_post(rows[0]) if rows else None


def require_post(post_id: UUID | str, actor: Actor) -> Post:
    """Return the post with this id. Raises `NotFound` if it is in the trash or not visible to the actor."""
    id_ = parse_uuid(post_id)
    found = find_post_with_author(id_) if id_ is not None else None
    if found is None:
        raise post_not_found(post_id)
    require_visible(found, actor)
    return found


def whole_post(row: Row) -> Post:
    """Build a post from a row with all its columns, its author's name and `HOLDER_COLUMNS`."""
    post = instance_from_row(Post, row)
    if post.author_id is not None:
        author = {"id": post.author_id, "username": row["author__username"]}
        post.author = instance_from_row(User, author)
    if post.locked_by_id is not None:
        holder = {name.partition("__")[2]: row[name] for name in HOLDER_COLUMNS}
        post.locked_by = instance_from_row(User, {"id": post.locked_by_id, **holder})
    return post


def module_rows(post_ids: Iterable[UUID]) -> dict[UUID, list[Row]]:
    """Return the live modules of posts in order, by post id. Props and overrides are JSON text. One query."""
    found: dict[UUID, list[Row]] = defaultdict(list)
    for row in _MODULES.rows(list(post_ids)):
        found[row["post_id"]].append(row)
    return found


def add_parts(rows: Sequence[Row], parts: frozenset[Part]) -> None:
    """Add the columns of `parts` to rows of `listed_rows`. One query, none without rows or parts."""
    if not parts:
        return
    found = {row["id"]: row for row in _parts_statement(parts).rows([row["id"] for row in rows])}
    for row in rows:
        # A post that was deleted since the first query has no parts.
        row.update(found.get(row["id"]) or dict.fromkeys(parts, "[]"))


@lru_cache(maxsize=8)
def _parts_statement(parts: frozenset[Part]) -> CompiledQuery:
    return CompiledQuery(
        lambda post_ids: (
            Post.objects.filter(pk__in=post_ids).order_by().values("id", **part_columns(parts))
        )
    )


def part_columns(parts: frozenset[Part]) -> dict[str, Combinable]:
    """Return the columns of these parts."""
    placements = PostModule.objects.filter(post_id=OuterRef("pk"))
    modules = placements.order_by("order_index", "id").values(entry=CompactObject(**WIRE_MODULE))
    drafts = Draft.objects.filter(post_id=OuterRef("pk"), is_empty=False).values(
        entry=JSONObject(layer="layer", **{name: name for name in _LAYER_COLUMNS})
    )
    shared = placements.filter(instance__scope="global").values(entry=JSONValue("instance_id"))
    columns: dict[Part, Combinable] = {
        "live_modules": CompactRows(modules),
        "staged_layers": rows_as_text(drafts),
        "global_ids": rows_as_text(shared),
    }
    return {part: column for part, column in columns.items() if part in parts}


def layers_of_text(text: str) -> dict[str, Row]:
    """Return the staged layers from a `staged_layers` text, as `layer_rows` with times in wire format."""
    # Most posts have no draft: skip parsing.
    return {row["layer"]: row for row in orjson.loads(text)} if text != "[]" else {}


def layer_rows(post_ids: Iterable[UUID]) -> dict[UUID, dict[str, Row]]:
    """Return version, time and author of the staged changes, by post id and layer. One query."""
    found: dict[UUID, dict[str, Row]] = defaultdict(dict)
    for row in _LAYERS.rows(list(post_ids)):
        found[row["post_id"]][row["layer"]] = row
    return found


def layer_row(draft: Draft) -> Row:
    """Return a draft as a row of `layer_rows`."""
    by = draft.updated_by
    return {
        "version": draft.version,
        "updated_at": draft.updated_at,
        "updated_by_id": draft.updated_by_id,
        "updated_by__username": by.username if by is not None else None,
    }


def term_ids(post_id: UUID) -> list[UUID]:
    """Return the ids of the live terms of a post. One query."""
    return [row["term_id"] for row in _TERMS.rows(post_id)]


def translations_of(post: Post, *, only_published: bool = False) -> list[Row]:
    """Return the other posts of the translation group, without a check of permissions."""
    statement = _PUBLISHED_TRANSLATIONS if only_published else _TRANSLATIONS
    return statement.rows(post.translation_group, post.pk)


def visible_translations(post: Post, who: Scoped) -> list[Row]:
    """Return the other posts of the translation group the user may view.

    One query, and one more for a limited scope.
    """
    found = translations_of(post)
    hidden = hidden_post_ids([row["id"] for row in found], who)
    return [row for row in found if row["id"] not in hidden]


def shared_module(slug: str | None, scope: str | None) -> tuple[str, str] | None:
    """Return slug and instance id of a global module, None without a slug.

    Raises `RuleViolation` if it is unknown.
    """
    if slug is None:
        if scope == "global":
            raise invalid("globalSlug", gettext("Global modules are added by their globalSlug."))
        return None
    row = ModuleInstance.objects.globals().filter(global_slug=slug).first()
    if row is None:
        sentence = gettext("There is no global module %(slug)r.") % {"slug": slug}
        raise invalid("globalSlug", sentence, code="unknown_global")
    if scope not in (None, "global"):
        raise invalid(
            "scope", gettext("A globalSlug always adds a global module. Leave out scope.")
        )
    return slug, str(row.pk)
