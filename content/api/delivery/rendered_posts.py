"""Published posts of the delivery API, with the members that their statement does not write: files, terms, head."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.conf import settings

from content.api.delivery.page_heads import (
    DeliveredPage,
    HeadModule,
    PageHeadAnswer,
    build_head,
    neighbour,
)
from content.api.delivery.post_statements import (
    COLUMNS,
    OF_PAGE,
    published_statement,
    variation_statement,
)
from content.document.contents import EMBED
from content.document.post_fields import POST_FIELDS
from content.models import Post
from content.presenters.delivered_texts import StoredContent, TextFormat, present_stored
from content.presenters.embeds import DeliveredEmbedAnswer, embedded_urls, find_embeds
from content.store.ai_disclosure import (
    TEXT_COLUMNS,
    AiDisclosure,
    build_disclosure,
    texts_of,
)
from content.store.arms import Arm, parse_arms
from content.store.linked_posts import Neighbour
from content.store.post_queries import published_posts
from content.store.referenced_files import NO_FILES, parse_files
from media.models import Asset
from media.presenters import delivered_asset, site_image
from proofroom.core.caching.cache_tags import marked_tags, tags_in_post, term_tag
from proofroom.core.caching.content_tags import (
    tag_of_path,
    tag_of_post,
)
from proofroom.core.database.compiled_queries import CompiledQuery, Row, instance_from_row
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import PageLocation, home_path, paths_above
from proofroom.definitions import taxonomies
from proofroom.definitions.listings import term_list_path

_ID_KINDS: Final = ("media", "post-reference")
_ID_NAMES: Final = frozenset(
    {"id", *(name for name, field in POST_FIELDS.items() if field.kind in _ID_KINDS)}
)
_TIME_NAMES: Final = frozenset({"createdAt", "updatedAt", "publishedAt"})
_AROUND: Final = frozenset({"ancestors", "seo"})
"""Fields that need the posts above the page."""
_EMBED: Final = re.compile(rf'"type"\s*:\s*"{EMBED}"')
"""In the JSON of a post: a module that may be an embed."""
_MAX_PATHS_ABOVE: Final = 32
_AROUND_POSTS: Final = CompiledQuery(
    lambda paths: (
        published_posts()
        .filter(path__in=paths)
        .order_by("published_at", "id")
        .values("id", "locale", "title", "path", "translation_group")
    )
)


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
    rows = published_statement(shape, "pk").rows(post_id)
    return next(iter(_render(rows[:1], shape, text_format, variation)), None)


def render_post_at(
    path: str,
    variation: str = "",
    fields: Collection[str] | None = None,
    text_format: TextFormat = "json",
) -> RenderedAnswer | None:
    """Return the published post at a path, as `render_post` does."""
    shape = None if fields is None else frozenset(fields)
    rows = published_statement(shape, "path").rows(path)
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
    rows = {row["original_id"]: row for row in published_statement(shape, "pk__in").rows(post_ids)}
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
    for row in published_statement(shape, "path__in").rows(sorted(paths)):
        # As for a single path, visitors get the first of several posts.
        rows.setdefault(row["path"], row)
    return dict(zip(rows, _render([*rows.values()], shape, text_format), strict=True))


def _load_embeds(bodies: Iterable[str]) -> dict[str, DeliveredEmbedAnswer]:
    """Return the facts about what posts embed, by address. One query if there are embeds, else none."""
    urls = {
        url
        for body in bodies
        # Most posts have no embed: then none is parsed for them.
        if _EMBED.search(body)
        for url in embedded_urls(orjson.loads(body).get("modules"))
    }
    return find_embeds(urls)


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
    has_page = fields is None or not fields.isdisjoint(OF_PAGE)
    bodies: list[str] = [one.content["body"] for one in shown]
    wires: list[JsonObject | None] = [orjson.loads(body) if has_page else None for body in bodies]
    # The metadata is of the stored texts.
    embeds = _load_embeds(bodies) if fields is None or "embeds" in fields else {}
    members = [
        _members(one, wire, fields, around, embeds) for one, wire in zip(shown, wires, strict=True)
    ]
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
    rows = variation_statement(fields).rows(arm.post_id) if arm is not None else []
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
    embeds: Mapping[str, DeliveredEmbedAnswer],
) -> _Members:
    """Return the members of a post. `wire` is its parsed body, None if no member needs it.

    `embeds`: facts about embedded addresses of all posts.
    """
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
    own_embeds = {
        url: embeds[url]
        for url in (
            embedded_urls(orjson.loads(content_row["body"]).get("modules")) if embeds else ()
        )
        if url in embeds
    }
    if own_embeds:
        members["embeds"] = own_embeds
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
    # Reversed, because visitors get the first of several posts at a path.
    found = {post.path: post for post in reversed(around) if post.locale == place.locale}
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
        author_names=[one["name"] for one in wire["authors"]],
    )
    return build_head(page)


def _from_wire(value: Any, *, is_id: bool, is_time: bool) -> Any:
    """Return the value of a column from its JSON."""
    if value is None:
        return None
    if is_id:
        return UUID(value)
    return datetime.fromisoformat(value) if is_time else value
