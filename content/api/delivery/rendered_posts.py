"""Published posts of the delivery API.

The database builds the JSON of a post and everything in it in one statement, so Python neither parses it nor
creates model instances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from content.api.delivery.page_heads import (
    DeliveredPage,
    HeadModule,
    PageHeadAnswer,
    build_head,
    neighbour,
)
from content.document.post_fields import POST_FIELDS
from content.models import Post, PostModule, PostTerm
from content.presenters.delivered_texts import StoredContent, TextFormat, present_stored
from content.store.ai_disclosure import (
    TEXT_COLUMNS,
    AiDisclosure,
    build_disclosure,
    disclosure_columns,
    texts_of,
)
from content.store.arms import PLACE_COLUMNS, Arm, parse_arms, running_arms
from content.store.linked_posts import Neighbour
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import WIRE_MODULE, published_posts
from content.store.referenced_files import NO_FILES, parse_files, referenced_files
from media.models import Asset
from media.presenters import delivered_asset, site_image
from proofroom.core.caching.cache_tags import marked_tags, tags_in_post, term_tag
from proofroom.core.caching.content_tags import (
    depend_on,
    tag_of_group,
    tag_of_path,
    tag_of_post,
)
from proofroom.core.database.compiled_queries import CompiledQuery, Row, instance_from_row
from proofroom.core.database.json_text import JSONObject, JSONRows, JSONValue, rows_as_text
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import PageLocation, home_path, locale_of, paths_above
from proofroom.definitions import taxonomies
from proofroom.definitions.listings import term_list_path
from proofroom.taxonomies.models import Term

COLUMNS: Final[Mapping[str, str]] = {
    **{name: name for name in ("id", "type", "locale", "status")},
    **{field.name: field.column for field in POST_FIELDS.values() if field.delivered},
    "customFields": "custom_fields",
    "url": "path",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "publishedAt": "published_at",
}
"""Columns of a post by API name."""
_NONE: Final = "[]"
_ID_KINDS: Final = ("media", "post-reference")
_TERM_COLUMNS: Final = ("id", "taxonomy", "slug", "name", "locale", "order_index")
_ID_NAMES: Final = frozenset(
    {"id", *(name for name, field in POST_FIELDS.items() if field.kind in _ID_KINDS)}
)
_TIME_NAMES: Final = frozenset({"createdAt", "updatedAt", "publishedAt"})
_AROUND: Final = frozenset({"ancestors", "seo"})
"""Fields that need the posts above the page."""
_OF_PAGE: Final = frozenset({"disclosure", "seo"})
"""Fields that are computed from the content of the post."""
_OF_GROUP: Final = frozenset({"translations", "seo"})
"""Fields that need the translations."""
_GROUP: Final = CompiledQuery(
    lambda post_id: (
        published_posts()
        .filter(
            translation_group__in=published_posts().filter(pk=post_id).values("translation_group")
        )
        .order_by("-published_at", "id")
        .values("id", "locale", "translation_group")
    )
)
_FALLBACKS_AT: Final = CompiledQuery(
    lambda paths: (
        Post.objects.alive()
        .filter(
            translation_group__in=Post.objects.alive()
            .filter(path__in=paths)
            .values("translation_group")
        )
        .order_by("id")
        .values(
            "id", "path", "locale", "translation_group", "published_at", "status", "is_placeholder"
        )
    )
)
_MAX_PATHS_ABOVE: Final = 32
_AROUND_POSTS: Final = CompiledQuery(
    lambda paths: (
        published_posts()
        .filter(path__in=paths)
        .order_by("published_at", "id")
        .values("id", "locale", "title", "path", "translation_group")
    )
)
_MOST_SHAPES: Final = 100
"""Number of field sets whose compiled statements are cached."""


@dataclass(frozen=True, slots=True)
class RenderedAnswer:
    """The body of an answer, and the cache tags of its contents.

    `post_id` is the original's of a variation, and `content_id` the variation's.
    """

    post_id: UUID
    content_id: UUID
    body: bytes
    depends_on: frozenset[str]

    @property
    def variations(self) -> dict[UUID, UUID]:
        """The variation in the place of the post, by the id of the post; empty without one."""
        return {self.post_id: self.content_id} if self.content_id != self.post_id else {}


def render_post(
    post_id: UUID,
    fields: Collection[str] | None = None,
    variation: str = "",
    text_format: TextFormat = "json",
) -> RenderedAnswer | None:
    """Return a published post by id, or its running variation with this name; None if there is none.

    Reads only the columns for `fields`. One statement, another one with a variation, and another one for `ancestors`
    or `seo`, which name posts above the page; up to three more for the links and images in its texts.
    """
    shape = None if fields is None else frozenset(fields)
    rows = _published(shape, "pk").rows(post_id)
    return next(iter(_render(rows[:1], shape, text_format, variation)), None)


def render_post_at(
    path: str,
    variation: str = "",
    fields: Collection[str] | None = None,
    text_format: TextFormat = "json",
) -> RenderedAnswer | None:
    """Return the published post at a path, as `render_post` does."""
    shape = None if fields is None else frozenset(fields)
    rows = _published(shape, "path").rows(path)
    return next(iter(_render(rows[:1], shape, text_format, variation)), None)


def render_posts(
    post_ids: Sequence[UUID],
    fields: Collection[str] | None = None,
    text_format: TextFormat = "json",
) -> dict[UUID, RenderedAnswer]:
    """Return the published posts among some, by id. As many statements as for one."""
    if not post_ids:
        return {}
    shape = None if fields is None else frozenset(fields)
    rows = {row["original_id"]: row for row in _published(shape, "pk__in").rows(post_ids)}
    return dict(zip(rows, _render([*rows.values()], shape, text_format), strict=True))


def render_posts_at(
    paths: Collection[str],
    fields: Collection[str] | None = None,
    text_format: TextFormat = "json",
) -> dict[str, RenderedAnswer]:
    """Return the published posts at paths, by path. As many statements as for one."""
    if not paths:
        return {}
    shape = None if fields is None else frozenset(fields)
    rows: dict[str, Row] = {}
    for row in _published(shape, "path__in").rows(sorted(paths)):
        # As for a single path, visitors get the first of several posts.
        rows.setdefault(row["path"], row)
    return dict(zip(rows, _render([*rows.values()], shape, text_format), strict=True))


def find_translation(post_id: UUID, locale: str | None, fallback: str) -> tuple[UUID, bool] | None:
    """Return the id of a published post in a language, or else in the fallback, and True for the fallback.

    `locale` None is the language of the post. None if the post is published in neither. One query.
    """
    rows = _GROUP.rows(post_id)
    depend_on(*(tag_of_group(row["translation_group"]) for row in rows[:1]))
    own = next((row["locale"] for row in rows if row["id"] == post_id), None)
    by_locale = {row["locale"]: row["id"] for row in rows}
    wanted = locale or own
    if wanted in by_locale:
        return by_locale[wanted], False
    return (by_locale[fallback], True) if fallback in by_locale else None


def find_fallbacks_at(paths: Collection[str], fallback: str) -> dict[str, UUID]:
    """Return the id of the published post in the fallback language for paths where none is published, by path.

    The translation of the post that was once published at the path, or else the post at the same path in the fallback
    language. None if its group is published in the language of the path. One query for all paths.
    """
    others = {
        path: home_path(fallback) + path.removeprefix(home_path(locale))
        for path in paths
        if (locale := locale_of(path)) != fallback and "\x00" not in path
    }
    if not others:
        return {}
    depend_on(*map(tag_of_path, {*others, *others.values()}))
    rows = _FALLBACKS_AT.rows(sorted({*others, *others.values()}))
    live = [row for row in rows if row["status"] == "published" and not row["is_placeholder"]]
    in_language = {(row["translation_group"], row["locale"]) for row in live}
    in_fallback = [row for row in live if row["locale"] == fallback]
    # Only posts that were published once: a path must not tell that a draft is there.
    groups = defaultdict[str, set[UUID]](set)
    for row in rows:
        if row["published_at"] is not None:
            groups[row["path"]].add(row["translation_group"])
    found: dict[str, UUID] = {}
    for path, other in others.items():
        candidates = [
            (row["path"] == other, row["id"])
            for row in in_fallback
            if (row["path"] == other or row["translation_group"] in groups[path])
            and (row["translation_group"], locale_of(path)) not in in_language
        ]
        if candidates:
            found[path] = min(candidates)[1]
    return found


def _needs_around(fields: frozenset[str] | None) -> bool:
    return fields is None or not fields.isdisjoint(_AROUND)


def _render(
    rows: Sequence[Row],
    fields: frozenset[str] | None,
    text_format: TextFormat,
    variation: str = "",
) -> list[RenderedAnswer]:
    """Return the answers of posts, or of their running variation with a name, in order."""
    shown = [_shown(row, fields, variation) for row in rows]
    places = [PageLocation(row["path"], row["post_locale"]) for row in rows]
    around = defaultdict[str, list[Neighbour]](list)
    for post in _load_around(places) if _needs_around(fields) else ():
        around[post.path].append(post)
    has_texts = fields is None or not fields.isdisjoint(("modules", "customFields"))
    has_page = fields is None or not fields.isdisjoint(_OF_PAGE)
    bodies: list[str] = [one.content["body"] for one in shown]
    wires: list[JsonObject | None] = [orjson.loads(body) if has_page else None for body in bodies]
    # The metadata is of the stored texts.
    members = [_members(one, wire, fields, around) for one, wire in zip(shown, wires, strict=True)]
    written = [*map(str.encode, bodies)]
    if has_texts:
        contents = [
            StoredContent(one.content_id, one.content["post_type"], body, wire)
            for one, body, wire in zip(shown, bodies, wires, strict=True)
        ]
        presented = present_stored(contents, text_format)
        written = [
            orjson.dumps(content) if content is not None else body
            for content, body in zip(presented, written, strict=True)
        ]
    return [
        _finish(one, body, more) for one, body, more in zip(shown, written, members, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The row of a post, and the row with its content, which is another one for a variation (`arm`)."""

    row: Row
    content: Row
    arms: Sequence[Arm]
    arm: Arm | None

    @property
    def content_id(self) -> UUID:
        post_id: UUID = self.row["original_id"]
        return self.arm.post_id if self.arm is not None else post_id


def _shown(row: Row, fields: frozenset[str] | None, variation: str) -> _Shown:
    arms = parse_arms(row["arms"])
    arm = next((arm for arm in arms if arm.name == variation), None)
    # The variation may have been stopped between the two statements; then the original is shown.
    rows = _variation(fields).rows(arm.post_id) if arm is not None else []
    return _Shown(row, rows[0], arms, arm) if rows else _Shown(row, row, arms, None)


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of a post that its statement does not write, and the tags of what they name."""

    values: Mapping[str, Any]
    tags: Sequence[str]


def _members(
    shown: _Shown,
    wire: JsonObject | None,
    fields: frozenset[str] | None,
    loaded: Mapping[str, Sequence[Neighbour]],
) -> _Members:
    """Return the members of a post. `wire` is its parsed body, None if no member needs it."""
    row, content_row, arms = shown.row, shown.content, shown.arms
    members: dict[str, Any] = {}
    if arms:
        members["variations"] = [
            {"id": arm.post_id, "variation": arm.name, "weight": arm.weight} for arm in arms
        ]
    if shown.arm is not None:
        members |= {"variationOf": row["original_id"], "variation": shown.arm.name}
    assets = _assets(content_row)
    locale = row["post_locale"]
    members["media"] = {id_: delivered_asset(asset, locale) for id_, asset in assets.items()}
    page: Mapping[str, Any] = wire or {}
    if content_row.get("rest") is not None:
        page = {**orjson.loads(content_row["rest"]), **page}
    disclosure = (
        _disclosure(content_row, page) if content_row.get("ai_origins") is not None else None
    )
    if disclosure is not None:
        members["disclosure"] = _present_disclosure(disclosure)
    named_terms: list[str] = []
    if fields is None or "terms" in fields:
        members["terms"] = terms = _terms(content_row)
        named_terms = [str(term["id"]) for term in terms]
    place = PageLocation(row["path"], locale)
    paths = _paths_around(place) if _needs_around(fields) else []
    around = [post for path in paths for post in loaded.get(path, ())]
    if paths:
        members["ancestors"] = [
            {"title": post.title, "url": post.path} for post in _ancestors(place, around)
        ]
    if fields is None or "seo" in fields:
        members["seo"] = _head(content_row, page, place, assets, around, disclosure)
    if fields is not None:
        members = {name: value for name, value in members.items() if name in fields}
    tags = [f"post:{row['original_id'].hex}", f"group:{row['group_id'].hex}"]
    tags += [f"post:{arm.post_id.hex}" for arm in arms]
    tags += [f"media:{UUID(id_).hex}" for id_ in assets]
    # Posts that are missing count too: one that appears above the page changes the answer.
    tags += [tag_of_path(path) for path in paths]
    tags += [tag_of_post(post.id) for post in around]
    tags += [tag_of_post(id_) for id_ in _translation_ids(content_row)]
    tags += marked_tags(map(term_tag, named_terms))
    return _Members(members, tags)


def _finish(shown: _Shown, body: bytes, members: _Members) -> RenderedAnswer:
    """Return the answer of a post: its JSON with the other members."""
    if members.values:
        # The body is spliced, not parsed: its closing brace is replaced by the members.
        separator = b"," if body != b"{}" else b""
        body = body[:-1] + separator + orjson.dumps(members.values)[1:]
    tags = frozenset([*members.tags, *marked_tags(tags_in_post(body))])
    return RenderedAnswer(shown.row["original_id"], shown.content_id, body, tags)


def _disclosure(row: Row, post: Mapping[str, Any]) -> AiDisclosure:
    """Return the AI work in a post that discloses it."""
    texts = texts_of(
        post["type"],
        {name: post[name] for name in TEXT_COLUMNS},
        post["customFields"],
        [
            (one["postModuleId"], one["type"], {**one["props"], **(one["overrides"] or {})})
            for one in post["modules"]
            if one["scope"] != "global"
        ],
    )
    return build_disclosure(row["ai_origins"], row["ai_show"], texts) or AiDisclosure(0, "none")


def _present_disclosure(found: AiDisclosure) -> JsonObject:
    return {
        "share": found.share,
        "kind": found.kind,
        "digitalSourceType": found.digital_source_type or None,
        "approvedBy": {"role": found.role, "name": found.name or None} if found.role else None,
    }


def _assets(row: Row) -> dict[str, Asset]:
    """Return the files named by a row, by id."""
    return {
        **parse_files(row.get("own_media", NO_FILES)),
        **parse_files(row.get("shared_media", NO_FILES)),
    }


def _terms(row: Row) -> list[JsonObject]:
    """Return the terms of a post in order, with the address of the list of posts of its type with the term."""
    rows = [term for term in orjson.loads(row["terms"]) if term["taxonomy"] in taxonomies.names()]
    rows.sort(key=lambda term: (term["taxonomy"], term["order_index"], term["name"]))
    return [
        {
            "id": term["id"],
            "taxonomy": term["taxonomy"],
            "slug": term["slug"],
            "name": term["name"],
            "url": term_list_path(
                row["post_type"], row["post_locale"], term["taxonomy"], term["slug"], term["locale"]
            )
            or None,
        }
        for term in rows
    ]


def _paths_around(place: PageLocation) -> list[str]:
    """Return the paths of the home pages and those above a page, which its title and its breadcrumb name."""
    homes = map(home_path, settings.CMS_ENV.locales)
    # A path may have any number of parts, but the tree of pages has few levels.
    return sorted({*homes, *paths_above(place)[:_MAX_PATHS_ABOVE]})


def _load_around(places: Iterable[PageLocation]) -> list[Neighbour]:
    """Return the published home pages and the posts above pages. One query."""
    paths = sorted({path for place in places for path in _paths_around(place)})
    return [
        neighbour(
            str(row["id"]), row["locale"], row["title"], row["path"], row["translation_group"]
        )
        for row in _AROUND_POSTS.rows(paths)
    ]


def _ancestors(place: PageLocation, around: Sequence[Neighbour]) -> list[Neighbour]:
    """Return the published posts above a page from the root down, without the home page."""
    found = {post.path: post for post in around if post.locale == place.locale}
    home = home_path(place.locale)
    return [found[path] for path in paths_above(place) if path in found and path != home]


def _translation_ids(row: Row) -> list[str]:
    return [other["id"] for other in orjson.loads(row["others"])]


def _head(
    row: Row,
    wire: Mapping[str, Any],
    place: PageLocation,
    assets: Mapping[str, Asset],
    around: Sequence[Neighbour],
    disclosure: AiDisclosure | None,
) -> PageHeadAnswer | None:
    """Return the metadata of a post's page. `wire` has at least the columns and modules of the post."""
    post = instance_from_row(
        Post,
        {
            column: _from_wire(wire[name], is_id=name in _ID_NAMES, is_time=name in _TIME_NAMES)
            for name, column in COLUMNS.items()
        },
    )
    post.path, post.locale = place.path, place.locale
    post.translation_group = row["group_id"]
    featured = assets.get(str(post.featured_media_id))
    if featured is None:
        post.featured_media_id = None
    else:
        post.featured_media = featured
    shown = {id_: site_image(asset, place.locale) for id_, asset in assets.items()}
    images = {id_: image for id_, image in shown.items() if image is not None}
    # Texts name their images by file.
    images |= {str(assets[id_].file.name): image for id_, image in images.items()}
    translations = [
        neighbour(other["id"], other["locale"], other["title"], other["path"], row["group_id"])
        for other in orjson.loads(row["others"])
    ]
    # The page itself too: the title of a home page names the site.
    own = neighbour(str(post.pk), place.locale, post.title, place.path, row["group_id"])
    modules = [
        HeadModule(one["postModuleId"], one["type"], {**one["props"], **(one["overrides"] or {})})
        for one in wire["modules"]
    ]
    page = DeliveredPage(
        post,
        modules,
        images=images,
        neighbours=[*around, *translations, own],
        disclosure=disclosure,
    )
    return build_head(page)


def _from_wire(value: Any, *, is_id: bool, is_time: bool) -> Any:
    """Return the value of a column from its JSON."""
    if value is None:
        return None
    if is_id:
        return UUID(value)
    return datetime.fromisoformat(value) if is_time else value


@lru_cache(maxsize=_MOST_SHAPES)
def _published(fields: frozenset[str] | None, column: str) -> CompiledQuery:
    """Return the statement for published posts by `column`, with their running variations."""
    identity = {"original_id": F("pk"), "arms": running_arms()}
    return CompiledQuery(
        lambda value: (
            published_posts()
            .filter(**{column: value})
            .order_by("published_at", "pk")
            .values("path", **_written(fields), **identity)
        )
    )


@lru_cache(maxsize=_MOST_SHAPES)
def _variation(fields: frozenset[str] | None) -> CompiledQuery:
    """Return the statement for a running variation with its own content at the original's place."""
    return CompiledQuery(
        lambda post_id: (
            Post.objects.running()
            .filter(pk=post_id)
            .values(**_written(fields, original="variation_of"))
        )
    )


def _written(fields: frozenset[str] | None, original: str = "") -> dict[str, Combinable]:
    """Return expressions for `body`, language and files of a post. `original` is the relation to the post of its
    place."""
    prefix = f"{original}__" if original else ""
    values: dict[str, str | Combinable] = {
        name: f"{prefix}{column}" if column in PLACE_COLUMNS else column
        for name, column in COLUMNS.items()
    }
    others = published_posts().filter(translation_group=OuterRef(f"{prefix}translation_group"))
    values["taxonomyTermIds"] = JSONRows(
        PostTerm.objects.filter(post_id=OuterRef("pk"))
        .order_by("term_id")
        .values(entry=JSONValue("term_id"))
    )
    values["translations"] = JSONRows(
        others.exclude(pk=OuterRef(f"{original}_id" if original else "pk"))
        .order_by("locale")
        .values(entry=JSONObject(id="id", locale="locale", url="path"))
    )
    values["modules"] = JSONRows(
        _placements().order_by("order_index", "id").values(entry=JSONObject(**WIRE_MODULE))
    )
    told: dict[str, Combinable] = {}
    # Structured data discloses AI work, too.
    if fields is None or not fields.isdisjoint(_OF_PAGE):
        told = disclosure_columns()
        if fields is not None:
            # The share of AI is of the whole text, which these fields may not contain.
            names = {"type", "customFields", "modules", *TEXT_COLUMNS}
            names |= {*COLUMNS, "modules"} if "seo" in fields else set()
            rest = JSONObject(**{name: values[name] for name in sorted(names - fields)})
            told["rest"] = Cast(rest, TextField())
    if fields is None or "terms" in fields:
        terms = Term.objects.filter(post_terms__post=OuterRef("pk")).order_by("pk")
        told["terms"] = rows_as_text(
            terms.values(entry=JSONObject(**{name: name for name in _TERM_COLUMNS}))
        )
    told["others"] = (
        rows_as_text(
            others.exclude(pk=OuterRef(f"{original}_id" if original else "pk"))
            .order_by("locale")
            .values(entry=JSONObject(id="id", locale="locale", title="title", path="path"))
        )
        if fields is None or not fields.isdisjoint(_OF_GROUP)
        else Value(_NONE, TextField())
    )
    if fields is not None:
        values = {name: value for name, value in values.items() if name in fields}
    found: dict[str, Combinable] = {
        "body": Cast(JSONObject(**values), TextField()),
        "post_locale": F("locale"),
        "post_type": F("type"),
        "group_id": F(f"{prefix}translation_group"),
        **told,
    }
    if fields is None or not fields.isdisjoint(("media", "seo")):
        # `referenced_files` uses this inside another subquery, so the post is two levels up.
        shared = _placements(OuterRef(OuterRef("pk"))).filter(instance__scope="global")
        found["own_media"] = referenced_files(POST, holder_id=OuterRef("pk"))
        found["shared_media"] = referenced_files(GLOBAL, holder_id__in=shared.values("instance_id"))
    return found


def _placements(post_id: OuterRef | None = None) -> models.QuerySet[PostModule]:
    return PostModule.objects.filter(post_id=post_id or OuterRef("pk"))
