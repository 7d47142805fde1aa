"""The data that checks of posts need besides the documents, loaded for all posts at once and only when used."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

import orjson
from django.db.models import Q

from content.document.contents import (
    DocumentContents,
    SharedProps,
    inside_path,
    outside_url,
    read_contents,
)
from content.document.document import PostDocument
from content.document.post_fields import SCHEDULE_FIELDS
from content.models import (
    AccessibilityReport,
    CheckedAddress,
    ModuleInstance,
    Post,
    Status,
)
from content.post_checks.live_links import live_links
from content.store.content_links import path_key, post_key, url_key
from content.store.post_queries import published_posts
from content.store.translation_status import TranslationState, states_of
from content.store.url_pattern_rules import RESERVED_IN_EVERY_LOCALE, is_reserved
from media.file_store import related_names
from media.models import Asset, StoredFile
from media.services.references import storage_name
from proofroom.briefs.effective import BriefSet, EffectiveBrief, load_briefs
from proofroom.core.batches import batches
from proofroom.core.hooks import Hook
from proofroom.core.json import Json
from proofroom.core.site_urls import home_path, locale_of, page_in_markdown
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions.listings import feed_at, listing_at

served_paths: Hook[[Collection[str]], Collection[str]] = Hook()
"""Called with canonical paths; returns the paths that another app answers, such as redirects."""

linked_posts: Hook[[Collection[UUID]], Collection[UUID]] = Hook()
"""Called with ids of posts; returns the posts that something besides content leads to, such as a menu."""

_UNSEEN_FIELDS: Final = frozenset({*SCHEDULE_FIELDS, "orderIndex"})
"""Fields that change neither the page nor its accessibility."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """A post of the same translation group."""

    id: UUID
    locale: str
    is_published: bool


class CheckSubject:
    """A document of a post to check: live, or of a layer."""

    def __init__(self, post: Post, document: PostDocument, context: CheckContext) -> None:
        self.post = post
        self.document = document
        self.context = context

    @cached_property
    def contents(self) -> DocumentContents:
        """The texts, links, images and headings of the document and of its global modules."""
        return read_contents(self.document, self.context.shared)

    @property
    def locale(self) -> str:
        return self.document.locale

    @cached_property
    def brief(self) -> EffectiveBrief:
        """The editorial brief that holds for the post."""
        return self.context.briefs.effective(
            post_type=self.document.type, locale=self.locale, section=self.post.path
        )

    def field(self, name: str) -> str:
        """Return a text field of the document; empty if it has no value."""
        value = self.document.fields.get(name)
        return value.strip() if isinstance(value, str) else ""

    @property
    def accessibility(self) -> AccessibilityReport | None:
        """The report of exactly this content, if it was tested."""
        return self.context.accessibility.get((self.post.pk, self.digest))

    @cached_property
    def digest(self) -> str:
        """The hash of what visitors get: the document and the props of its global modules."""
        return content_digest(self.document, self.context.shared)


def content_digest(document: PostDocument, shared: SharedProps) -> str:
    """Return the hash of what visitors get of a document."""
    fields = {
        name: value
        for name, value in document.fields.items()
        if name not in _UNSEEN_FIELDS and value not in (None, "")
    }
    modules = [
        [module.type, module.props, module.overrides, shared.get(module.instance_id)]
        for module in document.modules
    ]
    text = orjson.dumps([fields, modules], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


class CheckContext:
    """The subjects of one call and the data they share. Each property takes a fixed number of queries."""

    def __init__(self, documents: Iterable[tuple[Post, PostDocument]]) -> None:
        self.subjects = [CheckSubject(post, document, self) for post, document in documents]

    @property
    def _ids(self) -> list[UUID]:
        return [subject.post.pk for subject in self.subjects]

    @cached_property
    def shared(self) -> Mapping[str, Mapping[str, Json]]:
        """Props of the global modules, by instance id. One query, none without global modules."""
        ids = {
            module.instance_id
            for subject in self.subjects
            for module in subject.document.modules
            if module.scope == "global"
        }
        rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props") if ids else ()
        return {str(pk): props for pk, props in rows}

    @cached_property
    def assets(self) -> Mapping[str, Asset]:
        """The files of images, by id and by name in the storage. At most two queries."""
        images = [image for subject in self.subjects for image in subject.contents.images]
        ids = {image.media_id for image in images if parse_uuid(image.media_id) is not None}
        names = {
            name for image in images if image.src and (name := storage_name(image.src)) is not None
        }
        found: dict[str, Asset] = {}
        if ids:
            found = {str(asset.pk): asset for asset in Asset.objects.filter(pk__in=ids)}
        if names:
            same = {name: related_names(name) for name in names}
            files = StoredFile.objects.filter(
                name__in={one for each in same.values() for one in each}
            )
            by_name = {
                row.name: row.asset
                for row in files.select_related("asset")
                if row.asset is not None
            }
            for name, others in same.items():
                asset = next((by_name[one] for one in others if one in by_name), None)
                if asset is not None:
                    found[name] = asset
        return found

    @cached_property
    def unserved_paths(self) -> frozenset[str]:
        """The paths of links at which the site has no page. One query, and the queries of `served_paths`."""
        wanted = {
            path
            for subject in self.subjects
            for link in subject.contents.links
            if (path := inside_path(link.href))
        }
        return find_unserved(wanted)

    @cached_property
    def addresses(self) -> Mapping[str, CheckedAddress]:
        """The checked addresses of other sites, by URL. One query, none without links to other sites."""
        urls = {
            url
            for subject in self.subjects
            for link in subject.contents.links
            if (url := outside_url(link.href))
        }
        keys = {url_key(url): url for url in urls}
        found: dict[str, CheckedAddress] = {}
        for part in batches(sorted(keys)):
            rows = CheckedAddress.objects.filter(key__in=part)
            found |= {keys[row.key]: row for row in rows}
        return found

    @cached_property
    def siblings(self) -> Mapping[UUID, Sequence[Sibling]]:
        """All posts of the translation groups, by group. One query."""
        groups = {subject.post.translation_group for subject in self.subjects}
        rows = Post.objects.alive().filter(translation_group__in=groups)
        found: dict[UUID, list[Sibling]] = defaultdict(list)
        for pk, group, locale, status in rows.values_list(
            "pk", "translation_group", "locale", "status"
        ):
            found[group].append(Sibling(pk, locale, status == Status.PUBLISHED))
        return found

    @cached_property
    def translation_states(self) -> Mapping[UUID, TranslationState]:
        """The state of the live content of translations, by post. Five queries, none without translations."""
        translations = [
            subject.post for subject in self.subjects if subject.post.translated_from_id is not None
        ]
        return states_of(translations) if translations else {}

    @cached_property
    def linked(self) -> frozenset[UUID]:
        """The posts that other published posts or menus lead to. Two queries, and the queries of `linked_posts`."""
        keys: dict[str, set[UUID]] = defaultdict(set)
        for subject in self.subjects:
            post = subject.post
            if post.path:
                keys[path_key(post.path)].add(post.pk)
            # A reference to any translation shows the one in the language of the page.
            for sibling in self.siblings.get(post.translation_group, ()):
                keys[post_key(sibling.id)].add(post.pk)
        found: set[UUID] = set()
        for part in batches(sorted(keys)):
            for key, holder in live_links().filter(key__in=part).values_list("key", "post_id"):
                found |= {id_ for id_ in keys[key] if id_ != holder}
        for other in linked_posts(self._ids):
            found |= set(other)
        return frozenset(found)

    @cached_property
    def briefs(self) -> BriefSet:
        """All editorial briefs. One query."""
        return load_briefs()

    @cached_property
    def accessibility(self) -> Mapping[tuple[UUID, str], AccessibilityReport]:
        """The accessibility reports of exactly these contents, by post and digest. One query."""
        wanted = Q()
        for subject in self.subjects:
            wanted |= Q(post_id=subject.post.pk, digest=subject.digest)
        rows = AccessibilityReport.objects.filter(wanted) if self.subjects else ()
        return {(row.post_id, row.digest): row for row in rows}


def find_unserved(paths: Collection[str]) -> frozenset[str]:
    """Return the canonical paths at which the site has no page. One query, and the queries of `served_paths`."""
    left = {path for path in paths if path and not _is_served_by_rule(path)}
    pages: dict[str, set[str]] = defaultdict(set)
    for path in left:
        # No path of a post contains NUL, which PostgreSQL refuses.
        if "\x00" not in path:
            pages[page_in_markdown(path) or path].add(path)
    for part in batches(sorted(pages)):
        for found in published_posts().filter(path__in=part).values_list("path", flat=True):
            left -= pages[found]
    if left:
        for served in served_paths(left):
            left -= set(served)
    return frozenset(left)


def _is_served_by_rule(path: str) -> bool:
    """Return whether a path belongs to a part of the site that is no post: the home page, an index page, a file."""
    locale = locale_of(path)
    home = home_path(locale)
    if path == home:
        return True
    below = path.removeprefix(home).split("/")[0] if path.startswith(home) else ""
    if is_reserved(path.split("/", 2)[1]) or below in RESERVED_IN_EVERY_LOCALE:
        return True
    return listing_at(path, locale) is not None or feed_at(path, locale) is not None
