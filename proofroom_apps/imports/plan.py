"""The outline of a source: the path of each post, and the source addresses that lead to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.post_fields import TITLE_MAX
from content.models import Post
from content.models.post import MAX_DEPTH
from content.store.post_paths import (
    check_path_is_not_reserved,
    fill_pattern,
    find_posts_at,
    pattern_of,
)
from proofroom.core.batches import batches
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.definitions import find_post_type
from proofroom_apps.imports.clean_texts import clean_items
from proofroom_apps.imports.content_source import MAX_ITEMS, Reader
from proofroom_apps.imports.digests import source_key
from proofroom_apps.imports.items import (
    MediaItem,
    MenuItem,
    PostItem,
    RedirectItem,
    Remark,
    SourceSlug,
    TermItem,
)
from proofroom_apps.imports.models import ImportedObject

SLUG_TRIES: Final = 5
"""Number of slugs to try for a new post, with a number from the second on."""


@dataclass(slots=True)
class PlannedPost:
    """A post of the source. `post_id` is the id of the site's post, if it exists."""

    source_id: str
    place: str
    type: str
    locale: str
    slug: str
    parent_id: str | None
    level: int = 0
    slugs: tuple[str, ...] = ()
    path: str = ""
    post_id: UUID | None = None
    is_imported: bool = False
    title: str = ""
    is_spelled_out: bool = True
    """True if the slug distinguishes the post from others. `C` and `C++` have the same slug."""
    day: datetime | None = None
    """The time whose date its address may contain."""


@dataclass(slots=True)
class ImportPlan:
    posts: dict[str, PlannedPost] = field(default_factory=dict)
    terms: list[TermItem] = field(default_factory=list)
    files: dict[str, MediaItem] = field(default_factory=dict)
    menus: list[MenuItem] = field(default_factory=list)
    redirects: list[RedirectItem] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    """First post of each translation group."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Post of each source address."""

    @property
    def levels(self) -> int:
        return max((post.level for post in self.posts.values()), default=-1) + 1

    def path_of(self, key: str) -> str:
        """Return the path of the post at a source address; empty if there is none."""
        source_id = self.addresses.get(key)
        return self.posts[source_id].path if source_id is not None else ""

    def move_below(self, post: PlannedPost, before: str) -> None:
        """Update the paths of new posts below a post whose path `before` was not available."""
        for one in self.posts.values():
            if one.post_id is None and one.path.startswith(f"{before}/"):
                one.path = post.path + one.path[len(before) :]


def make_plan(reader: Reader, source: str, tick: Callable[[], None]) -> ImportPlan:
    """Read the outline of the whole source. `tick` is called regularly, since this may take long."""
    plan = ImportPlan()
    term_ids: set[tuple[str, str]] = set()
    for number, item in enumerate(clean_items(reader.items())):
        if number % 500 == 0:
            tick()
        if number >= MAX_ITEMS:
            raise RuleViolation(
                _("The source has more than %(most)s items. Split it into parts.")
                % {"most": f"{MAX_ITEMS:,}"},
                code="too_many",
            )
        match item:
            case PostItem():
                _add_post(plan, item)
            case TermItem():
                if (item.taxonomy, item.source_id) not in term_ids:
                    term_ids.add((item.taxonomy, item.source_id))
                    plan.terms.append(item)
            case MediaItem():
                plan.files.setdefault(item.address, item)
            case MenuItem():
                plan.menus.append(item)
            case RedirectItem():
                plan.redirects.append(item)
            case Remark():
                plan.remarks.append(item)
    plan.terms = _parents_first(plan.terms)
    _set_levels(plan)
    _find_known_posts(plan, source, reader.scope)
    _set_paths(plan)
    return plan


def _add_post(plan: ImportPlan, item: PostItem) -> None:
    if item.source_id in plan.posts:
        plan.remarks.append(
            Remark(item.place, _("Another item of the source has the same ID; skipped."), "error")
        )
        return
    try:
        is_tree = find_post_type(item.type).hierarchical
    except CmsError as error:
        plan.remarks.append(Remark(item.place, error.message, "error"))
        return
    if item.parent_id and not is_tree:
        text = _("Posts of type %(type)s have no parent; the parent in the source was left out.")
        plan.remarks.append(Remark(item.place, text % {"type": item.type}))
    slug = SourceSlug.of(item.slug, item.title, item.locale)
    plan.posts[item.source_id] = PlannedPost(
        item.source_id,
        item.place,
        item.type,
        item.locale,
        slug.text,
        item.parent_id if is_tree else None,
        title=item.title,
        is_spelled_out=slug.is_spelled_out,
        day=_day_of(item),
    )
    for address in item.addresses:
        plan.addresses.setdefault(address, item.source_id)
    plan.redirects += [RedirectItem(path, to_post=item.source_id) for path in item.old_paths]
    if item.translation_group:
        plan.groups.setdefault(item.translation_group, item.source_id)


def _parents_first(terms: Iterable[TermItem]) -> list[TermItem]:
    by_id = {(term.taxonomy, term.source_id): term for term in terms}
    ordered: dict[tuple[str, str], TermItem] = {}
    for term in by_id.values():
        branch: dict[tuple[str, str], TermItem] = {}
        key = (term.taxonomy, term.source_id)
        # `branch` ends a cycle of parents.
        while key in by_id and key not in branch and key not in ordered:
            branch[key] = by_id[key]
            key = (term.taxonomy, by_id[key].parent_id or "")
        for key in reversed(branch):
            ordered[key] = branch[key]
    return list(ordered.values())


def _day_of(item: PostItem) -> datetime | None:
    # A publication date in the future is not imported, see `_PostWriter._dates`.
    dates = (item.published_at, item.created_at)
    return next((one for one in dates if one is not None and one <= timezone.now()), None)


def _set_levels(plan: ImportPlan) -> None:
    """Set the depth of each post. Parents that are missing, of another type or in a cycle are dropped."""
    is_settled: set[str] = set()
    for post in plan.posts.values():
        branch: dict[str, PlannedPost] = {}
        current: PlannedPost | None = post
        while current is not None and current.source_id not in is_settled:
            branch[current.source_id] = current
            is_settled.add(current.source_id)
            parent = plan.posts.get(current.parent_id) if current.parent_id else None
            if current.parent_id and (
                parent is None or parent.source_id in branch or parent.type != current.type
            ):
                text = _(
                    "The parent is missing from the source or has another type, so the post is at the top level."
                )
                if parent is not None and parent.source_id in branch:
                    text = _(
                        "In the source, this page is nested below itself, so the post is at the "
                        "top level."
                    )
                plan.remarks.append(Remark(current.place, text))
                current.parent_id, parent = None, None
            current = parent
        for one in reversed(branch.values()):
            parent = plan.posts[one.parent_id] if one.parent_id else None
            # Levels count from 0, and the post is one below its parent.
            if parent is not None and (parent.level + 2 > MAX_DEPTH or parent.locale != one.locale):
                plan.remarks.append(
                    Remark(
                        one.place,
                        _("The post cannot be placed below its parent, so it is at the top level."),
                    )
                )
                one.parent_id, parent = None, None
            one.level = parent.level + 1 if parent else 0


def _find_known_posts(plan: ImportPlan, source: str, scope: str) -> None:
    """Find the posts that were imported from this source before."""
    rows = ImportedObject.objects.filter(source=source, scope=scope, kind="post")
    by_key = {source_key(source_id): post for source_id, post in plan.posts.items()}
    for key, object_id in rows.values_list("key", "object_id").iterator():
        if (known := by_key.get(key)) is not None:
            known.post_id = object_id
            known.is_imported = True
    ids = [post.post_id for post in plan.posts.values() if post.post_id]
    kept: set[UUID] = set()
    for part in batches(ids):
        kept.update(Post.objects.filter(pk__in=part).values_list("pk", flat=True))
    for post in plan.posts.values():
        if post.post_id is not None and post.post_id not in kept:
            post.post_id, post.is_imported = None, False  # permanently deleted: imported again


def _set_paths(plan: ImportPlan) -> None:
    """Set slug and path of each post, level by level. An existing post at the same place counts as the same post.

    If the path of a new post is reserved or taken, its slug gets a number, like the writer gives it: items written
    earlier must know the final path.
    """
    by_level: dict[int, list[PlannedPost]] = {}
    for post in plan.posts.values():
        by_level.setdefault(post.level, []).append(post)
    patterns: dict[tuple[str, str], str] = {}
    taken: set[tuple[str, str, str | None, str]] = set()
    numbers: dict[tuple[str, str, str | None, str], int] = {}
    """Last number used for each slug, so that 1,000 posts with one title need 1,000 tries, not a million."""
    owners: dict[str, str] = {}
    now = timezone.now()
    for level in sorted(by_level):
        posts = by_level[level]
        new = [post for post in posts if post.post_id is None]
        wanted_slugs = {post.source_id: post.slug for post in new}
        for post in posts:
            if post.post_id is None:
                base = post.slug
                wanted_place = (post.type, post.locale, post.parent_id, base)
                while (post.type, post.locale, post.parent_id, post.slug) in taken:
                    numbers[wanted_place] = numbers.get(wanted_place, 1) + 1
                    post.slug = f"{base}-{numbers[wanted_place]}"
            taken.add((post.type, post.locale, post.parent_id, post.slug))
        there = _posts_at(plan, new)
        for post in new:
            post.post_id = _same_post(plan, post, there, wanted_slugs[post.source_id])
        known = _rows_of([post.post_id for post in posts if post.post_id])
        for post in posts:
            parent = plan.posts[post.parent_id] if post.parent_id else None
            row = known.get(post.post_id) if post.post_id else None
            if row is not None:
                post.path, slug = row
                post.slugs = (*(parent.slugs if parent else ()), slug)
                continue
            _place(plan, post, patterns, now)
        new = [post for post in posts if post.post_id is None and post.path]
        others = {other.path for other in find_posts_at({post.path for post in new})}
        for post in posts:
            owners.setdefault(post.path, post.source_id)
        for post in new:
            wanted, base = post.path, post.slug
            # The same tries as in `_PostWriter._create_at_free_slug`, so that both get the same address.
            for number in range(2, SLUG_TRIES + 1):
                is_own = owners.setdefault(post.path, post.source_id) == post.source_id
                if is_own and post.path not in others and not _is_reserved(post):
                    break
                post.slug = f"{base}-{number}"
                _place(plan, post, patterns, now)
                same = _same_post(plan, post, _posts_at(plan, [post]), base)
                if same is not None and owners.get(post.path, post.source_id) == post.source_id:
                    post.post_id = same
                    owners[post.path] = post.source_id
                    break
            if post.post_id is None and post.path != wanted:
                taken.add((post.type, post.locale, post.parent_id, post.slug))
                text = _("The address %(path)s is already in use, so the post is at %(new)s.")
                plan.remarks.append(Remark(post.place, text % {"path": wanted, "new": post.path}))


def _place(
    plan: ImportPlan,
    post: PlannedPost,
    patterns: dict[tuple[str, str], str],
    now: datetime,
) -> None:
    """Set the path of a new post below its parent's path."""
    parent = plan.posts[post.parent_id] if post.parent_id else None
    post.slugs = (*(parent.slugs if parent else ()), post.slug)
    key = (post.type, post.locale)
    if key not in patterns:
        patterns[key] = pattern_of(*key)
    unsaved = Post(type=post.type, locale=post.locale, slug=post.slug, created_at=post.day or now)
    try:
        post.path = fill_pattern(patterns[key], unsaved, post.slugs)
    except CmsError:
        post.path = ""  # too long: the writer reports it


def _is_reserved(post: PlannedPost) -> bool:
    try:
        check_path_is_not_reserved("slug", Post(type=post.type, locale=post.locale, path=post.path))
    except CmsError:
        return True
    return False


_Place = tuple[str, str, str, UUID | None]
"""Type, locale, slug and parent of a post."""


def _posts_at(plan: ImportPlan, posts: list[PlannedPost]) -> dict[_Place, tuple[UUID, str]]:
    """Return the existing posts at the places of these posts, each with its title."""
    found: dict[_Place, tuple[UUID, str]] = {}
    imported = {post.post_id for post in plan.posts.values() if post.is_imported}
    slugs = sorted({post.slug for post in posts})
    types = {post.type for post in posts}
    for part in batches(slugs):
        rows = Post.objects.alive().filter(type__in=types, slug__in=part)
        for row in rows.only("type", "locale", "slug", "parent_id", "title"):
            # A post that came from another item of the source is not the same post.
            if row.pk not in imported:
                found[row.type, row.locale, row.slug, row.parent_id] = (row.pk, row.title)
    return found


def _same_post(
    plan: ImportPlan, post: PlannedPost, there: Mapping[_Place, tuple[UUID, str]], slug: str
) -> UUID | None:
    """Return the existing post at the place of a new one, or None.

    If the place has a numbered slug, or the slug lost characters, the titles must also match.
    """
    parent = plan.posts[post.parent_id] if post.parent_id else None
    if parent is not None and parent.post_id is None:
        return None
    place = (post.type, post.locale, post.slug, parent.post_id if parent else None)
    found = there.get(place)
    if found is None:
        return None
    title = post.title[:TITLE_MAX].rstrip()
    is_named = post.is_spelled_out and post.slug == slug
    return found[0] if is_named or found[1] == title else None


def _rows_of(ids: list[UUID]) -> dict[UUID, tuple[str, str]]:
    """Return path and slug of posts."""
    found: dict[UUID, tuple[str, str]] = {}
    for part in batches(ids):
        for pk, path, slug in Post.objects.filter(pk__in=part).values_list("pk", "path", "slug"):
            found[pk] = (path, slug)
    return found
