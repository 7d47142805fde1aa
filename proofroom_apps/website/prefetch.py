"""Data of a post's page besides its fields and props: files, other posts, lists, forms."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from content.models import Post
from content.store.linked_posts import Neighbour
from content.store.media_usage import media_shown_in
from content.store.opening_images import media_of_opening_module, opening_media
from media.presenters import SiteImage, site_image
from proofroom.core.caching.content_memo import memoize_by_content, note_failure
from proofroom.core.caching.content_tags import depend_on, tag_of_media
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.compiled_queries import Row
from proofroom.core.database.errors import is_database_unreachable
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, JsonObject
from proofroom.core.site_urls import PageLocation
from proofroom.definitions import FieldType, Module, ModuleProps, PostList, modules, post_types
from proofroom.definitions.props import values_in
from proofroom_apps.menus.links import MenuItems
from proofroom_apps.website.page_frame import PageChrome, load_surroundings
from proofroom_apps.website.queries import FoundPost, images
from proofroom_apps.website.rendering import RenderableModule

Load = Callable[[Collection[str], str], Mapping[str, object]]
"""Loads the values for templates from the values of module fields and the page's locale. One query."""


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """A source of data for modules. Templates read it under `name`, keyed by the values of fields of type `field`."""

    name: str
    field: FieldType
    load: Load


module_sources: ExtensionPoint[ModuleSource] = ExtensionPoint()
"""Registered sources. Each is loaded once for a page, only if a field of its type has a value."""


@dataclass(frozen=True, slots=True)
class PostCard:
    """Another post for templates. The files that `custom` names are in `media`."""

    id: str
    type: str
    title: str
    url: str
    excerpt: str
    published_at: datetime | None
    image: SiteImage | None
    custom: JsonObject


def media_ids(props: type[ModuleProps], values: object) -> Iterator[str]:
    """Yield the ids in the media fields of props, and the names of own files in their rich text."""
    return (str(token) for token in media_shown_in(props, values))


def featured_image(post: Post) -> SiteImage | None:
    if post.featured_media_id is not None:
        depend_on(tag_of_media(post.featured_media_id))
    return site_image(post.featured_media, post.locale) if post.featured_media else None


def image_of_post(
    post: Post, shown: Sequence[RenderableModule], media: Mapping[str, SiteImage]
) -> SiteImage | None:
    """Return the featured image, else that of the opening module. `media` are the modules' images by id."""
    if (image := featured_image(post)) is not None:
        return image
    return _first(opening_media((module.type, module.props) for module in shown), media)


def _first(ids: Iterable[str], media: Mapping[str, SiteImage]) -> SiteImage | None:
    return next((media[id_] for id_ in ids if id_ in media), None)


def card_of(row: Row, media: Mapping[str, SiteImage]) -> PostCard:
    return PostCard(
        id=str(row["id"]),
        type=row["type"],
        title=row["title"],
        url=row["path"],
        excerpt=row["excerpt"],
        published_at=row["published_at"],
        image=_first(_images_of(row), media),
        custom=row["custom_fields"],
    )


def _images_of(row: Row) -> Sequence[str]:
    """Return the featured image, else the images of the module that opens the page."""
    if row["featured_media_id"] is not None:
        return [str(row["featured_media_id"])]
    return media_of_opening_module(row["opening"])


def media_of(row: Row) -> Iterator[str]:
    """Yield the files that a card shows."""
    yield from _images_of(row)
    definition = post_types.get(row["type"])
    if definition is not None:
        yield from media_ids(definition.CustomFields, row["custom_fields"])


logger = logging.getLogger(__name__)
MAX_POSTS = 1000
"""Maximum number of posts that one page's modules name; others are not shown."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The data to load. `named` has the field values of each registered source, by its name."""

    media: set[str] = field(default_factory=set)
    post_ids: dict[UUID, None] = field(default_factory=dict)
    lists: dict[PostList, None] = field(default_factory=dict)
    named: dict[str, set[str]] = field(default_factory=dict)


def needs_of(found: FoundPost) -> Needs:
    """Return the data that a found post's page needs, cached by its content."""
    return memoize_by_content(
        collect_prefetches,
        {"content": found.content},
        lambda: collect_prefetches(found.post, found.modules),
    )


def collect_prefetches(post: Post, items: Sequence[RenderableModule]) -> Needs:
    """Return the data that a post's page needs. Stored modules may be invalid."""
    needs = Needs()
    sources = {source.field: source.name for source in module_sources}
    kinds = frozenset[FieldType]({"post-reference", *sources})
    for item in items:
        definition = modules.get(item.type)
        if definition is None:
            continue
        own = _find_needs(definition, item.props, kinds)
        needs.media.update(own.media)
        needs.lists.update(dict.fromkeys(own.lists))
        for kind, value in own.named:
            if kind == "post-reference" and len(needs.post_ids) < MAX_POSTS:
                with suppress(ValueError):
                    needs.post_ids[UUID(value)] = None
            elif kind in sources and value:
                needs.named.setdefault(sources[kind], set()).add(value)
    post_type = post_types.get(post.type)
    if post_type is not None:
        needs.media.update(media_ids(post_type.CustomFields, post.custom_fields))
    return needs


@dataclass(frozen=True, slots=True)
class _ModuleNeeds:
    """Values that a module names: files, lists, and texts of fields by type."""

    media: frozenset[str]
    lists: tuple[PostList, ...]
    named: tuple[tuple[FieldType, str], ...]


def _find_needs(
    definition: type[Module], stored: Mapping[str, Json], kinds: frozenset[FieldType]
) -> _ModuleNeeds:
    props = {**definition.default_props(), **stored}
    lists: tuple[PostList, ...] = ()
    try:
        lists = tuple(definition.lists(props))
    # Stored props may be older than the definition. The module then shows no list.
    except Exception:
        logger.exception("cannot find the lists of a module %s", definition.name)
        note_failure()
    return _ModuleNeeds(
        media=frozenset(media_ids(definition.Props, props)),
        lists=lists,
        named=tuple(
            (kind, value)
            for _, kind, value in values_in(definition.Props, props, kinds)
            if isinstance(value, str)
        ),
    )


@dataclass(frozen=True, slots=True)
class PageData:
    """Data loaded for a page. `sources` is keyed by the registered names."""

    around: PageChrome
    media: Mapping[str, SiteImage]
    posts: Mapping[str, PostCard]
    lists: Mapping[PostList, Sequence[PostCard]]
    sources: Mapping[str, Mapping[str, object]]

    def context(self) -> dict[str, object]:
        """Return the names that module templates read."""
        return {**self.sources, "media": self.media, "posts": self.posts, "lists": self.lists}

    @property
    def contents(self) -> dict[str, object]:
        """The loaded data of the page besides the post and the frame."""
        return {
            "linked": self.around.linked.neighbours,
            "media": self.media,
            "posts": self.posts,
            "lists": self.lists,
            "sources": self.sources,
        }


def load_page_data(
    post: Post,
    needs: Needs,
    *,
    state: LiveState | None = None,
    near: Sequence[Neighbour] | None = None,
    menus: Mapping[str, MenuItems] | None = None,
) -> PageData:
    """Load the data of a page. At most four queries, plus one for each source: the frame, linked posts, files.

    `menus` replace stored ones of their slugs. Two queries less if the frame is cached for the `state`; with `near`,
    no query for links alone.
    """
    around = load_surroundings(
        PageLocation(post.path, post.locale),
        state=state,
        group=post.translation_group,
        near=near,
        menus=menus,
        post_ids=needs.post_ids,
        lists=tuple(needs.lists),
    )
    found = around.linked
    named = {
        str(id_): found.referenced[str(id_)]
        for id_ in needs.post_ids
        if str(id_) in found.referenced
    }
    shown = {
        id_
        for rows in (named.values(), *found.listed.values())
        for row in rows
        for id_ in media_of(row)
    }
    media = images(needs.media | shown, post.locale)
    return PageData(
        around=around,
        media=media,
        posts={id_: card_of(row, media) for id_, row in named.items()},
        lists={
            wanted: [card_of(row, media) for row in rows] for wanted, rows in found.listed.items()
        },
        sources={
            source.name: _load_source(source, needs, post.locale)
            for source in module_sources
            if source.name in needs.named
        },
    )


def _load_source(source: ModuleSource, needs: Needs, locale: str) -> Mapping[str, object]:
    """Load the values of a source. If it fails, only its modules are left out of the page."""
    try:
        return source.load(sorted(needs.named[source.name]), locale)
    except Exception as error:
        # Without the database no page can be complete; let the request fail as a whole.
        if is_database_unreachable(error):
            raise
        logger.exception("cannot load the source %s of a page", source.name)
        note_failure()
        return {}
