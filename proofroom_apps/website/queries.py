"""Queries of the public site. They return published, approved, undeleted posts in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any, Final, cast
from uuid import UUID

import orjson
from django.db.models import (
    Exists,
    ExpressionWrapper,
    F,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from content.document.post_fields import POST_FIELDS, SearchWeight
from content.models import Post, PostModule
from content.store import search
from content.store.ai_disclosure import (
    TEXT_COLUMNS,
    AiDisclosure,
    build_disclosure,
    disclosure_columns,
    texts_of,
)
from content.store.arms import Arm, parse_arms, running_arms, with_place_of_original
from content.store.author_names import named_authors
from content.store.linked_posts import Neighbour
from content.store.list_counts import count_by_locale, count_of_term_by_locale
from content.store.opening_images import media_of_opening_module, opening_module
from content.store.post_queries import (
    list_posts_of,
    module_rows,
    part_of,
    published_at,
    published_posts,
)
from media.models import Asset
from media.presenters import SiteImage, SiteRecording, site_image, site_recording
from media.queries import load_assets_by_name
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_memo import content_key
from proofroom.core.caching.content_tags import depend_on, tag_of_list, tag_of_media, tag_of_path
from proofroom.core.caching.content_version import parse_state, state_text
from proofroom.core.caching.content_version_cache import LiveState, lease
from proofroom.core.database.compiled_queries import (
    CompiledQuery,
    Row,
    columns_of,
    instance_from_row,
)
from proofroom.core.database.json_list import JSONList
from proofroom.core.database.json_text import JSONObject, JSONRows, JSONValue, rows_as_text
from proofroom.core.search import RankedKeys, Word
from proofroom.core.site_urls import PageLocation, paths_above
from proofroom.definitions import custom_text_of, text_of
from proofroom.definitions.listings import IndexPage
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.links import MenuItems
from proofroom_apps.menus.models import Menu
from proofroom_apps.website.rendering import RenderableModule

MENUS = ("main", "footer")


@dataclass(frozen=True)
class FoundPost:
    """A post to show, and the content state at which it was read. `row` is the data that was read.

    `arms` are its running variations. `arm_row` is the data of the variation shown in its place, if any.
    """

    state: LiveState
    arms: Sequence[Arm]
    row: Row
    has_near: bool
    arm_row: Row | None = None

    @cached_property
    def content(self) -> str:
        """A key of the data that was read; equal only for equal data."""
        return content_key([self.row, self.arm_row])

    @cached_property
    def post(self) -> Post:
        post = _post(self.row)
        return (
            with_place_of_original(_post(self.arm_row), post) if self.arm_row is not None else post
        )

    @cached_property
    def terms(self) -> list[Term]:
        """The terms in order."""
        return _ordered_terms(self._shown["terms"])

    @cached_property
    def near(self) -> list[Neighbour] | None:
        """The published posts above it and its translations, with the post itself; None if they were not read."""
        if not self.has_near:
            return None
        return [*_near(self.row["above"]), *_near(self.row["translations"])]

    @property
    def _shown(self) -> Row:
        return self.row if self.arm_row is None else self.arm_row

    @cached_property
    def modules(self) -> Sequence[RenderableModule]:
        """Return the live modules in order, with the post's overrides applied."""
        return [
            RenderableModule(
                post_module_id=row["id"],
                type=row["type"],
                props={**row["props"], **(row["overrides"] or {})},
                index=index,
                instance_id=row["instance"],
                global_slug=row["global"] or "",
            )
            for index, row in enumerate(orjson.loads(self._shown["modules"]))
        ]

    @cached_property
    def author_names(self) -> list[str]:
        """The names of its authors that readers see, in order."""
        names: list[str] = orjson.loads(self._shown["named_authors"])
        return names

    @cached_property
    def disclosure(self) -> AiDisclosure | None:
        """The share of AI work; None if the post's type does not disclose it."""
        row = self._shown
        if row["ai_origins"] is None:
            return None
        modules = [
            (one["id"], one["type"], {**one["props"], **(one["overrides"] or {})})
            for one in orjson.loads(row["modules"])
            if one["scope"] != "global"
        ]
        fields = {name: row[column] for name, column in TEXT_COLUMNS.items()}
        texts = texts_of(row["type"], fields, row["custom_fields"], modules)
        return build_disclosure(row["ai_origins"], row["ai_show"], texts)


_SHOWN: Final = (
    *columns_of(Post),
    *(f"featured_media__{name}" for name in columns_of(Asset)),
)
_PARTS: Final = ("terms", "modules", "named_authors", "ai_origins", "ai_show")
_MAX_PATHS_ABOVE: Final = 8
"""Maximum number of paths above a page that are read with it."""
_PAGE: Final = CompiledQuery(
    lambda path, locale, above: (
        published_at(path, locale)
        .annotate(
            content_state=state_text(),
            terms=_terms(),
            arms=running_arms(),
            modules=_modules(),
            named_authors=_author_names(),
            above=_neighbours(published_posts().filter(path__in=above)),
            translations=_neighbours(
                published_posts().filter(translation_group=OuterRef("translation_group"))
            ),
            **disclosure_columns(),
        )
        .values(*_SHOWN, *_PARTS, "content_state", "arms", "above", "translations")[:1]
    )
)
_ARM: Final = CompiledQuery(
    lambda post_id: (
        Post.objects.running()
        .filter(pk=post_id)
        .annotate(
            terms=_terms(),
            modules=_modules(),
            named_authors=_author_names(),
            **disclosure_columns(),
        )
        .values(*_SHOWN, *_PARTS)
    )
)
_TERM_COLUMNS: Final = [name for name in columns_of(Term) if name != "description"]
"""The description is only on the list of the term, and may be long."""
_MENUS: Final = CompiledQuery(
    lambda locale, default: (
        Menu.objects.filter(slug__in=MENUS)
        .filter(Q(locale=locale) | Q(locale=default))
        .values("slug", "locale", "items")
    )
)


def find_published_post(path: str, locale: str) -> FoundPost | None:
    """Return the published post at a path with its own data. One query."""
    if "\x00" in path:  # PostgreSQL refuses to look for it
        return None
    above = paths_above(PageLocation(path, locale))
    is_deep = len(above) > _MAX_PATHS_ABOVE
    begun = lease.begin()
    rows = _PAGE.rows(path, locale, above[:1] if is_deep else above)
    if not rows:
        return None
    row = rows[0]
    state = parse_state(row.pop("content_state"))
    lease.renew(begun, state)
    return FoundPost(state, parse_arms(row["arms"]), row, has_near=not is_deep)


def load_variation_arm(original: FoundPost, arm: Arm) -> FoundPost | None:
    """Return a running variation in place of its original, or None if it just stopped. One query."""
    rows = _ARM.rows(arm.post_id)
    return replace(original, arm_row=rows[0]) if rows else None


def _modules() -> Cast:
    """Return a subquery of each post's modules as JSON, to save a query."""
    columns = {
        "id": "id",
        "instance": "instance_id",
        "global": "instance__global_slug",
        "type": "instance__type",
        "scope": "instance__scope",
        "props": "instance__props",
        "overrides": "overrides",
    }
    placed = PostModule.objects.filter(post_id=OuterRef("pk")).order_by("order_index", "id")
    return Cast(JSONRows(placed.values(entry=JSONObject(**columns))), TextField())


def _author_names() -> Cast:
    """Return a subquery of the names of each post's authors as JSON, to save a query."""
    return rows_as_text(named_authors().values(entry=JSONValue("reader_name")))


def _neighbours(posts: QuerySet[Post]) -> Cast:
    """Return a subquery of published posts as JSON, with the columns that links need."""
    columns = {name: name for name in ("id", "locale", "title", "path", "translation_group")}
    listed = posts.order_by("published_at", "id").values(entry=JSONObject(**columns))
    return Cast(JSONRows(listed), TextField())


def _near(listed: str) -> list[Neighbour]:
    return [
        Neighbour(
            id=row["id"],
            locale=row["locale"],
            title=row["title"],
            path=row["path"],
            group=UUID(row["translation_group"]),
            is_published=True,
        )
        for row in orjson.loads(listed)
    ]


def _post(row: Row) -> Post:
    post = instance_from_row(Post, row)
    if post.featured_media_id is not None:
        values = {name: row[f"featured_media__{name}"] for name in columns_of(Asset)}
        post.featured_media = instance_from_row(Asset, values)
    return post


def _terms() -> Subquery:
    """Return a subquery of each post's terms as a JSON list, to save a query."""
    terms = Term.objects.filter(post_terms__post=OuterRef("pk")).order_by()
    return Subquery(terms.values(all=JSONList(*_TERM_COLUMNS)), output_field=JSONField())


def _ordered_terms(rows: Sequence[Sequence[Any]] | None) -> list[Term]:
    terms = []
    for values in rows or ():
        row = dict(zip(_TERM_COLUMNS, values, strict=True))
        ids = {name: row[name] and UUID(row[name]) for name in ("id", "parent_id")}
        terms.append(instance_from_row(Term, {**row, **ids}))
    # Sorted here: the subquery builds the JSON list without an order.
    return sorted(terms, key=lambda term: (term.taxonomy, term.order_index, term.name))


def is_published_at(path: str, locale: str) -> bool:
    """Return whether a page is published at the path."""
    return published_at(path, locale).exists()


def is_site_empty() -> bool:
    """Return whether the site has no pages for visitors. One query."""
    return not Post.objects.live().exists()


def load_menus(locale: str, default_locale: str) -> dict[str, MenuItems]:
    """Return the items of the menus by slug, in the locale or else the default one. One query."""
    rows = _MENUS.rows(locale, default_locale)
    found: dict[str, MenuItems] = {}
    # The locale's own rows come last, so that they replace the default locale's.
    for row in sorted(rows, key=lambda row: row["locale"] == locale):
        found[row["slug"]] = row["items"]
    return found


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of posts of a listing in a locale, and name and description of its term there."""

    locale: str
    posts: int
    term_name: str = ""
    term_description: str = ""


Extents = Mapping[str, Extent]
"""Extents of one listing, for every locale with posts for it."""


def load_extents(listing: IndexPage, state: LiveState | None) -> Extents:
    """Return the extents of a listing at a content state. One query, none if cached."""
    depend_on(tag_of_list(listing.type))
    kept = _cached_extents(listing, state)
    if kept is not None:
        return kept
    if listing.term:
        rows = _COUNTS_OF_TERM.rows(listing.type, listing.taxonomy, listing.term)
    else:
        rows = _COUNTS.rows(listing.type)
    return _keep_extents(listing, state, rows)


def _cached_extents(listing: IndexPage, state: LiveState | None) -> Extents | None:
    """Return the cached extents. Caching matters: counting reads an index entry for every post of the type."""
    kept = answers.get_value(state, _extents_key(listing)) if state is not None else None
    return None if kept is None else _by_locale(cast("list[Row]", kept))


def _keep_extents(listing: IndexPage, state: LiveState | None, rows: list[Row]) -> Extents:
    # Visitors may request lists of any number of terms that do not exist.
    if state is not None and rows:
        answers.put_value(state, _extents_key(listing), rows, tag_of_list(listing.type))
    return _by_locale(rows)


def _by_locale(rows: Iterable[Row]) -> Extents:
    return {row["locale"]: Extent(**row) for row in rows}


def _extents_key(listing: IndexPage) -> str:
    return f"extents {listing.type} {listing.taxonomy} {listing.term}"


_COUNTS: Final = CompiledQuery(count_by_locale)
_COUNTS_OF_TERM: Final = CompiledQuery(count_of_term_by_locale)


class SiteFiles(dict[str, SiteImage]):
    """The images of a page by id and file name, and beside them its videos and audio files."""

    def __init__(self) -> None:
        super().__init__()
        self.recordings: dict[str, SiteRecording] = {}


def images(keys: Iterable[str], locale: str) -> SiteFiles:
    """Return the files of these ids and names, for pages in this language. One query, none without keys."""
    wanted = set(keys)
    names = {key for key in wanted if "/" in key}
    found = load_assets_by_name(wanted - names, names)
    assets = [*found.by_id.values(), *found.by_name.values()]
    depend_on(*(tag_of_media(asset.pk) for asset in assets))
    shown = SiteFiles()
    for key, asset in {**found.by_id, **found.by_name}.items():
        if (image := site_image(asset, locale)) is not None:
            shown[key] = image
        elif (recording := site_recording(asset, locale)) is not None:
            shown.recordings[key] = recording
    return shown


@dataclass(frozen=True, slots=True)
class PostSummary:
    """A post in lists and feeds."""

    id: str
    title: str
    path: str
    excerpt: str
    meta_description: str
    published_at: datetime | None
    updated_at: datetime
    image: SiteImage | None
    byline: str
    """Who wrote it, for readers."""


@dataclass(frozen=True)
class ListedPosts:
    """Posts of a listing. `rows` is the data read of them, `images` the images of the modules that open their pages.

    Apart from the opening module, a row is JSON text, so that equal content is recognised by equal text.
    """

    locale: str
    rows: Sequence[Row]
    images: Mapping[str, SiteImage]

    @cached_property
    def content(self) -> str:
        """A key of the data that was read; equal only for equal data."""
        return content_key([self.rows, self.images])

    @cached_property
    def posts(self) -> list[PostSummary]:
        return [self._summary(orjson.loads(row["post"]), row["opening"]) for row in self.rows]

    def _summary(self, post: Row, opening: str) -> PostSummary:
        return PostSummary(
            id=post["id"],
            title=post["title"],
            path=post["path"],
            excerpt=post["excerpt"],
            meta_description=post["meta_description"] or "",
            published_at=_time(post["published_at"]) if post["published_at"] else None,
            updated_at=_time(post["updated_at"]),
            image=_image(post, self.locale) or self._opening_image(opening),
            byline=post["byline"] or ", ".join(post["author_names"]),
        )

    def _opening_image(self, opening: str) -> SiteImage | None:
        ids = media_of_opening_module(opening)
        return next((self.images[id_] for id_ in ids if id_ in self.images), None)


def load_listed_posts(listing: IndexPage, begin: int, size: int) -> ListedPosts:
    """Return `size` posts of a listing from `begin` on. One query, plus one if opening modules show images."""
    statement = _listed(begin, size, has_term=bool(listing.term))
    return _with_images(listing, statement.rows(*_named(listing)))


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page of a listing, with the listing's extent in every locale with posts for it."""

    listed: ListedPosts
    extents: Extents


def load_listed_page(
    listing: IndexPage, begin: int, size: int, state: LiveState | None
) -> ListedPage | None:
    """Return the posts of a listing from `begin` on. None if there are none, or if a post has the page's address.

    As many queries as `load_listed_posts`; extents that are not cached for the state are read with the posts.
    """
    depend_on(tag_of_path(listing.path))
    extents = _cached_extents(listing, state)
    if extents is not None and listing.locale not in extents:
        extents = None  # the first post may have come a moment ago
    statement = _listed(
        begin, size, has_term=bool(listing.term), path=listing.path, counts=extents is None
    )
    listed = _with_images(listing, statement.rows(*_named(listing)))
    if not listed.rows or listed.rows[0]["is_taken"]:
        return None
    if extents is None:
        counted = [row.pop("extents") for row in listed.rows]
        extents = _keep_extents(listing, state, orjson.loads(counted[0]))
    return ListedPage(listed, extents)


def _with_images(listing: IndexPage, rows: Sequence[Row]) -> ListedPosts:
    depend_on(tag_of_list(listing.type))
    ids = {id_ for row in rows for id_ in media_of_opening_module(row["opening"])}
    return ListedPosts(listing.locale, rows, images(ids, listing.locale))


def _named(listing: IndexPage) -> tuple[str, ...]:
    named = (listing.type, listing.locale)
    return (*named, listing.taxonomy, listing.term) if listing.term else named


_LISTED: Final = (
    "id",
    "title",
    "path",
    "excerpt",
    "meta_description",
    "byline",
    "featured_media_id",
)
_TIMES: Final = ("published_at", "updated_at")
_IMAGE: Final = (
    "id", "file", "mime", "status", "width", "height", "variants", "dark_variants", "focal_x",
    "focal_y", "alt_text", "alt_texts", "is_decorative",
)  # fmt: skip


@lru_cache(maxsize=50)
def _listed(
    begin: int,
    size: int,
    *,
    has_term: bool,
    path: str = "",
    counts: bool = False,
) -> CompiledQuery:
    """Return the statement for the rows of a listing. With `path`, it also selects whether a post has that path."""

    def rows(*named: str) -> QuerySet[Post, Any]:
        listing = IndexPage(*named)
        more: dict[str, Combinable] = {}
        if path:
            more["is_taken"] = Exists(published_at(path, listing.locale))
        if counts:
            more["extents"] = _extents_of(listing)
        page = part_of(list_posts_of(listing), slice(begin, begin + size))
        post = Cast(_listed_post(), TextField())
        return page.values(post=post, opening=opening_module(), **more)

    return CompiledQuery(rows)


def _listed_post() -> JSONObject:
    columns = (*_LISTED, *(f"featured_media__{name}" for name in _IMAGE))
    # Cast times to text: `JSONObject` would cut them to milliseconds.
    times = {name: ExpressionWrapper(F(name), output_field=TextField()) for name in _TIMES}
    names = JSONRows(named_authors().values(entry=JSONValue("reader_name")))
    return JSONObject(**{name: name for name in columns}, **times, author_names=names)


def _time(text: str) -> datetime:
    """Parse a time as the database writes it. SQLite stores UTC without a zone."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _extents_of(listing: IndexPage) -> Cast:
    """Return a subquery of the extents as JSON text."""
    extents = JSONObject(locale="locale", posts="posts")
    counted = count_by_locale(listing.type)
    if listing.term:
        counted = count_of_term_by_locale(listing.type, listing.taxonomy, listing.term)
        extents = JSONObject(
            locale="locale",
            posts="posts",
            term_name="term_name",
            term_description="term_description",
        )
    return rows_as_text(counted.values(entry=extents))


def _image(row: Row, locale: str) -> SiteImage | None:
    if row["featured_media_id"] is None:
        return None
    depend_on(tag_of_media(row["featured_media_id"]))
    values = {name: row[f"featured_media__{name}"] for name in _IMAGE}
    values["id"] = UUID(row["featured_media_id"])
    return site_image(instance_from_row(Asset, values), locale)


def search_published_posts(words: Sequence[Word], locale: str) -> RankedKeys:
    """Return the keys of a locale's posts that contain all words, best match first."""
    return search.find_keys(_published_in, words, locale)


def _published_in(locale: str) -> QuerySet[Post]:
    return published_posts().filter(locale=locale)


def load_found_posts(keys: Sequence[UUID]) -> list[FoundText]:
    """Return the posts of these keys that are still published, in the order of the keys.

    One query, none without keys.
    """
    rows = {row["id"]: row for row in _FOUND.rows(keys)}
    return [
        FoundText(instance_from_row(Post, rows[key]), rows[key]["modules"])
        for key in keys
        if key in rows
    ]


@dataclass(frozen=True, slots=True)
class FoundText:
    """A post for search results, with its live modules as JSON."""

    post: Post
    modules_json: str

    @property
    def texts(self) -> Iterator[str]:
        """Yield the texts of its fields and modules in page order, without the title."""
        yield from search.texts_of(self.post, *_SHOWN_WEIGHTS)
        yield custom_text_of(self.post.type, self.post.custom_fields)
        for row in orjson.loads(self.modules_json):
            yield text_of(row["type"], {**row["props"], **(row["overrides"] or {})})


_SHOWN_WEIGHTS: Final[tuple[SearchWeight, ...]] = ("B", "C")
_FOUND: Final = CompiledQuery(
    lambda keys: (
        published_posts()
        .filter(pk__in=keys)
        .order_by()
        .values(
            "id",
            "type",
            "title",
            "path",
            "published_at",
            "custom_fields",
            *(
                field.column
                for field in POST_FIELDS.values()
                if field.search_weight in _SHOWN_WEIGHTS
            ),
            modules=_modules(),
        )
    )
)


def modules_of(posts: Iterable[Post]) -> dict[str, list[RenderableModule]]:
    """Return the live modules of posts in order, by post id."""
    found = module_rows([post.pk for post in posts])
    return {
        str(post_id): [
            RenderableModule(
                post_module_id=str(row["id"]),
                type=row["instance__type"],
                props={
                    **orjson.loads(row["props_text"]),
                    **orjson.loads(row["overrides_text"]),
                },
                index=index,
            )
            for index, row in enumerate(rows)
        ]
        for post_id, rows in found.items()
    }
