"""The hits of find and replace for a page: grouped by post or row, each with its field and notes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.document.document import CUSTOM_PREFIX
from content.document.labels import field_label, module_label, prop_label, type_label
from content.find_replace.documents import MODULES, POSTS
from content.find_replace.hits import Hit, HitFinder
from content.find_replace.sources import GLOBALS
from content.models import ModuleInstance, Post, PostModule, QueuedChange, Status
from proofroom.core.find_replace import select_sources
from proofroom.core.i18n.languages import language_name
from proofroom_apps.editorial.posts.post_pages import post_url

MAX_LISTED: Final = 300


@dataclass(frozen=True, slots=True)
class ListedHit:
    """A hit with the label of its field. `problem` says why it cannot be replaced."""

    hit: Hit
    place: str
    problem: str


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of a post, or of a row of another table. `notes` are shown before the user chooses."""

    title: str
    url: str
    kind: str
    notes: tuple[str, ...]
    hits: list[ListedHit]


def table_label(table: str) -> str:
    """Return the label of a table."""
    known = {
        "posts": _("Posts: fields"),
        "modules": _("Posts: modules"),
        "global_modules": _("Global modules"),
        "menus": _("Menus"),
        "taxonomies": _("Topics and tags"),
        "media": _("Media: descriptions"),
        "redirects": _("Redirects"),
        "forms": _("Forms"),
    }
    return known.get(table, table)


def group_hits(finder: HitFinder) -> list[HitGroup]:
    """Return the first hits by post or row. At most one query for each table, and four for posts."""
    hits = finder.hits[:MAX_LISTED]
    modules = {
        str(row.pk): row
        for row in PostModule.objects.filter(
            pk__in={hit.row for hit in hits if hit.table == MODULES}
        ).select_related("instance")
    }
    by_post: dict[str, list[Hit]] = defaultdict(list)
    by_row: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        if hit.table == POSTS:
            by_post[hit.row].append(hit)
        elif hit.table == MODULES:
            # The module may have been deleted since the search.
            if hit.row in modules:
                by_post[str(modules[hit.row].post_id)].append(hit)
        else:
            by_row[hit.table, hit.row].append(hit)
    return [*_posts(finder, by_post, modules), *_rows(finder, by_row)]


def _posts(
    finder: HitFinder, by_post: dict[str, list[Hit]], modules: dict[str, PostModule]
) -> Iterable[HitGroup]:
    posts = {str(post.pk): post for post in Post.objects.filter(pk__in=by_post)}
    waiting: Counter[str] = Counter(
        str(pk)
        for pk in QueuedChange.objects.filter(post__in=list(posts)).values_list(
            "post_id", flat=True
        )
    )
    for post_id, hits in by_post.items():
        post = posts.get(post_id)
        if post is None:
            continue
        listed = [
            ListedHit(hit, _place(hit, post, modules.get(hit.row)), finder.problem(hit))
            for hit in hits
        ]
        kind = f"{type_label(post.type)} · {language_name(post.locale)}"
        yield HitGroup(
            post.title, post_url("change", post), kind, _notes(post, waiting[post_id]), listed
        )


def _notes(post: Post, waiting: int) -> tuple[str, ...]:
    notes = []
    if post.variation_of_id is not None:
        notes.append(_("Variation %(name)s") % {"name": post.variation})
    elif post.status != Status.PUBLISHED:
        notes.append(post.shown_status_label)
    if waiting:
        text = ngettext(
            "%(n)d change is waiting for review and is not replaced",
            "%(n)d changes are waiting for review and are not replaced",
            waiting,
        )
        notes.append(text % {"n": waiting})
    return tuple(notes)


def _place(hit: Hit, post: Post, module: PostModule | None) -> str:
    name, *rest = hit.field.split(".")
    if module is None:
        if name == CUSTOM_PREFIX.rstrip(".") and rest:
            return field_label(post.type, CUSTOM_PREFIX + rest[0])
        return field_label(post.type, name)
    type_ = module.instance.type
    label = prop_label(type_, rest[0]) if rest else name
    return f"{module_label(type_)} › {label}"


def _rows(finder: HitFinder, by_row: dict[tuple[str, str], list[Hit]]) -> Iterable[HitGroup]:
    keys: dict[str, list[str]] = defaultdict(list)
    for table, row in by_row:
        keys[table].append(row)
    names = {
        (table, row): name
        for source in select_sources(keys)
        for table in source.tables
        if table in keys
        for row, name in source.names(keys[table]).items()
    }
    types: dict[str, str] = {}
    if GLOBALS in keys:
        rows = ModuleInstance.objects.filter(pk__in=keys[GLOBALS]).values_list("pk", "type")
        types = {str(pk): type_ for pk, type_ in rows}
    for (table, row), hits in by_row.items():
        title, url = names.get((table, row), ("", ""))
        listed = [
            ListedHit(hit, _row_place(hit, types.get(row, "")), finder.problem(hit)) for hit in hits
        ]
        yield HitGroup(title, url, table_label(table), (), listed)


def _row_place(hit: Hit, module_type: str) -> str:
    _props, _dot, name = hit.field.partition("props.")
    return prop_label(module_type, name.split(".")[0]) if module_type and name else hit.field
