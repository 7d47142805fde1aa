"""The links of live content as rows, which show where posts are linked from and which addresses to check.

Rows are written with every change of live content. A post in the trash keeps its rows: readers filter by holder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from content.document.contents import EMBED, hrefs_in, inside_path, outside_url
from content.document.document import CUSTOM_PREFIX, PostDocument
from content.models import ContentLink, ModuleInstance, Post
from content.models.post_check import HREF_MAX
from content.store import post_repository
from proofroom.core.batches import batches
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import FieldType, ModuleProps, modules, post_types
from proofroom.definitions.props import values_in

LinkValue = tuple[str, str, str, str]
"""Path, kind, address as stored, and key of a link."""
_BATCH: Final = 200
_PATH_MAX: Final = 300


def path_key(path: str) -> str:
    """Return the key of a canonical path of the site."""
    return _hash("path", path)


def post_key(post_id: UUID | str) -> str:
    """Return the key of a reference to a post."""
    return _hash("post", str(post_id))


def url_key(url: str) -> str:
    """Return the key of an address of another site, without its fragment."""
    return _hash("url", url)


def _hash(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind} {text}".encode("utf-8", "surrogatepass")).hexdigest()


def link_of(path: str, href: str) -> LinkValue | None:
    """Return a link that can be checked; None for fragments, mail addresses and the like."""
    if inside := inside_path(href):
        return path, ContentLink.Kind.PATH.value, href[:HREF_MAX], path_key(inside)
    if (outside := outside_url(href)) and len(outside) <= HREF_MAX:
        return path, ContentLink.Kind.URL.value, href[:HREF_MAX], url_key(outside)
    return None


def collect_links(document: PostDocument) -> list[LinkValue]:
    """Return the distinct links and post references of a document, without the ones in its global modules."""
    found: dict[LinkValue, None] = {}
    post_type = post_types.get(document.type)
    if post_type is not None:
        _add_links(found, post_type.CustomFields, document.custom_fields, f"post.{CUSTOM_PREFIX}")
    for module in document.modules:
        definition = modules.get(module.type)
        if definition is not None:
            part = "overrides" if module.scope == "global" else "props"
            values = {**module.props, **module.overrides}
            prefix = f"modules.{module.id}.{part}."
            _add_links(found, definition.Props, values, prefix, kinds=_kinds_of(module.type))
    return list(found)


def collect_module_links(type_name: str, props: Mapping[str, Json]) -> list[LinkValue]:
    """Return the distinct links and post references of a global module. Paths are `props.<name>`."""
    found: dict[LinkValue, None] = {}
    definition = modules.get(type_name)
    if definition is not None:
        _add_links(found, definition.Props, props, "props.", kinds=_kinds_of(type_name))
    return list(found)


_KINDS: Final[frozenset[FieldType]] = frozenset({"link", "url", "richtext", "post-reference"})


def _kinds_of(type_name: str) -> frozenset[FieldType]:
    # Browsers load an embed as a part of the page; it is no link.
    return _KINDS - {"url"} if type_name == EMBED else _KINDS


def _add_links(
    found: dict[LinkValue, None],
    props: type[ModuleProps],
    values: Mapping[str, Json],
    prefix: str,
    kinds: frozenset[FieldType] = _KINDS,
) -> None:
    # Much faster than `read_contents`, because every write of live content calls it.
    for name, kind, value in values_in(props, values, kinds):
        path = f"{prefix}{name}"[:_PATH_MAX]
        if kind == "richtext":
            for href in hrefs_in(value):
                if (link := link_of(path, href)) is not None:
                    found.setdefault(link)
        elif not isinstance(value, str) or not value:
            continue
        elif kind != "post-reference":
            if (link := link_of(path, value)) is not None:
                found.setdefault(link)
        elif parse_uuid(value) is not None:
            id_ = value.lower()
            found.setdefault((path, ContentLink.Kind.POST.value, id_, post_key(id_)))


def update_live_links(rewrites: Iterable[tuple[Post, PostDocument | None, PostDocument]]) -> None:
    """Update the links of posts whose live content changed. No query if their links stay the same."""
    changed: dict[UUID, list[LinkValue]] = {}
    replaced: list[UUID] = []
    for post, before, after in rewrites:
        if before is not None:
            if not _links_differ(before, after):
                continue
            replaced.append(post.pk)
        changed[post.pk] = collect_links(after)
    if replaced:
        _drop_unchanged(changed, ContentLink.objects.filter(post__in=replaced))
    _insert(
        ContentLink(post_id=post_id, path=path, kind=kind, href=href, key=key)
        for post_id, links in changed.items()
        for path, kind, href, key in links
    )


def _drop_unchanged(wanted: Mapping[UUID, list[LinkValue]], stored: QuerySet[ContentLink]) -> None:
    """Remove the links from `wanted` that are stored, and the stored ones that are not wanted. Two queries.

    Rows of unchanged links stay, because they know the posts that moved since.
    """
    outdated: list[int] = []
    for row in stored.order_by("pk"):
        links = wanted[cast("UUID", row.post_id or row.module_id)]
        value = (row.path, row.kind, row.href, row.key)
        if value in links:
            links.remove(value)
        else:
            outdated.append(row.pk)
    if outdated:
        ContentLink.objects.filter(pk__in=outdated).delete()


def _links_differ(before: PostDocument, after: PostDocument) -> bool:
    """Compare the links of two documents, reading only the modules that differ."""
    old, new = ({module.id: module for module in document.modules} for document in (before, after))
    parts = (
        replace(before, modules=tuple(one for one in old.values() if new.get(one.id) != one)),
        replace(after, modules=tuple(one for one in new.values() if old.get(one.id) != one)),
    )
    links = [collect_links(part) for part in parts]
    return links[0] != links[1]


def update_global_links(
    changed: Iterable[tuple[ModuleInstance, Mapping[str, Json] | None]],
) -> None:
    """Update the links of global modules whose props changed. No query if their links stay the same."""
    wanted: dict[UUID, list[LinkValue]] = {}
    replaced: list[UUID] = []
    for module, before in changed:
        old = collect_module_links(module.type, before) if before else []
        new = collect_module_links(module.type, module.props)
        if old != new:
            if old:
                replaced.append(module.pk)
            wanted[module.pk] = new
    if replaced:
        _drop_unchanged(wanted, ContentLink.objects.filter(module__in=replaced))
    _insert(row for id_, links in wanted.items() for row in _rows_of_module(id_, links))


def rebuild_links(post_ids: Collection[UUID] | None = None) -> int:
    """Rebuild the links of these posts, or of all posts and global modules. Returns the number of posts.

    Idempotent, and safe during concurrent writes.
    """
    posts = Post.objects.all() if post_ids is None else Post.objects.filter(pk__in=post_ids)
    ids = list(posts.order_by("pk").values_list("pk", flat=True))
    for part in batches(ids, _BATCH):
        _rebuild_posts(part)
    if post_ids is None:
        _rebuild_modules()
    return len(ids)


def needs_rebuild() -> bool:
    """Return whether no link was ever stored although there are posts: the tables are new. Two queries."""
    return not ContentLink.objects.exists() and Post.objects.exists()


@transaction.atomic
def _rebuild_posts(ids: Sequence[UUID]) -> None:
    # Ordered, so that locks cannot deadlock.
    rows = Post.objects.filter(pk__in=ids).order_by("pk")
    posts = list(rows.select_for_update(of=("self",), no_key=True))
    wanted = {
        post.pk: collect_links(document) for post, document in post_repository.load_many(posts)
    }
    _drop_unchanged(wanted, ContentLink.objects.filter(post__in=ids))
    _insert(
        ContentLink(post_id=id_, path=path, kind=kind, href=href, key=key)
        for id_, links in wanted.items()
        for path, kind, href, key in links
    )


@transaction.atomic
def _rebuild_modules() -> None:
    modules = list(ModuleInstance.objects.globals().order_by("pk").select_for_update(of=("self",)))
    wanted = {module.pk: collect_module_links(module.type, module.props) for module in modules}
    of_modules = ContentLink.objects.filter(module__isnull=False)
    # Not by `wanted`: a module that was created meanwhile has links of its own.
    of_modules.exclude(module__in=ModuleInstance.objects.globals().order_by().values("pk")).delete()
    _drop_unchanged(wanted, of_modules.filter(module__in=list(wanted)))
    _insert(row for id_, links in wanted.items() for row in _rows_of_module(id_, links))


def _rows_of_module(module_id: UUID, links: Iterable[LinkValue]) -> list[ContentLink]:
    return [
        ContentLink(module_id=module_id, path=path, kind=kind, href=href, key=key)
        for path, kind, href, key in links
    ]


def _insert(rows: Iterable[ContentLink]) -> None:
    listed = list(rows)
    if listed:
        ContentLink.objects.bulk_create(listed, batch_size=_BATCH)
