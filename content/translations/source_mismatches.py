"""Mismatches between translations and their sources, in staged changes and live content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson
from django.db.models import OuterRef, Subquery

from content.comparison.agreement.translation_comparison import SourceMismatch, compare_translation
from content.document.changes import ABSENT, Value, same, value_at
from content.document.document import ModuleDocument, PostDocument
from content.layers import LayerView
from content.models import CopyOrigin, Draft, Layer, Post
from content.store import post_repository
from content.store.layer_state import draft_rows, drafts_from_rows, layers_of, paths_overlap
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped
from proofroom.core.database.compiled_queries import columns_of, instance_from_row
from proofroom.core.database.json_text import JSONObject, rows_as_text
from proofroom.core.json import Json

Mismatches = tuple[SourceMismatch, ...]
_NONE: Final[Mapping[str, Mismatches]] = {}


@dataclass(frozen=True, slots=True)
class TranslationSource:
    """The source of a translation: its live and Review documents, and the pairs of modules."""

    post: Post
    live: PostDocument
    review: PostDocument
    copies: Mapping[str, str | None] | None
    shared: Mapping[str, Mapping[str, Json]]

    def compare(self, target: PostDocument) -> Mismatches:
        """Return the mismatches between a document of the translation and its source.

        Agreement with either the live or the Review document is enough, because translations are made from
        both.
        """
        if self.post.is_placeholder:
            return self._compare(self.review, target)
        found = self._compare(self.live, target)
        if self.review is self.live:
            return found
        other = self._compare(self.review, target)
        paths = {one.path for one in other}
        # For modules that exist only in the source's Review, its mismatches count.
        proposed = {
            own
            for source_id, own in (self.copies or {}).items()
            if source_id not in self.live.order
        }
        return tuple(one for one in found if one.path in paths) + tuple(
            one for one in other if one.path.split(".")[1] in proposed
        )

    @property
    def document(self) -> PostDocument:
        """The document that a translation is made from: live, or Review if nothing is live yet."""
        return self.review if self.post.is_placeholder else self.live

    def value_for(self, path: str) -> Value:
        """Return the source's value for a path of the translation, or `ABSENT`."""
        if not path.startswith("modules."):
            return value_at(self.document, path)
        _modules, own, *rest = path.split(".", 3)
        module = self.module_for(own)
        if module is None or len(rest) < 2:
            return ABSENT
        props = {**self.shared.get(module.instance_id, {}), **module.props, **module.overrides}
        return props.get(rest[1], ABSENT)

    def is_copied(self, one: SourceMismatch, target: PostDocument) -> bool:
        """Return whether a text in the wrong language is identical to the source."""
        return one.kind == "language" and same(value_at(target, one.path), self.value_for(one.path))

    def module_for(self, own: str) -> ModuleDocument | None:
        """Return the source module for a module of the translation."""
        source_id = next(
            (source_id for source_id, copy in (self.copies or {}).items() if copy == own), None
        )
        return self.document.module(source_id) if source_id is not None else None

    def _compare(self, source: PostDocument, target: PostDocument) -> Mismatches:
        return compare_translation(source, target, self.copies, self.shared)


def load_sources(
    translations: Sequence[Post], who: Scoped | None = None
) -> dict[UUID, TranslationSource]:
    """Return the sources of translations by translation id; other posts are left out.

    One query, or none if no post is a translation. With `who`, only sources visible to them.
    """
    wanted = {post.pk: post.translated_from_id for post in translations if post.translated_from_id}
    if not wanted:
        return {}
    posts = Post.objects.alive() if who is None else visible_to(Post.objects.alive(), who)
    origins = CopyOrigin.objects.filter(
        post__translated_from=OuterRef("pk"), post__in=list(wanted)
    ).values(entry=JSONObject(post="post_id", modules="modules"))
    rows = posts.filter(pk__in=set(wanted.values())).values(
        *columns_of(Post),
        **post_repository.live_rows(),
        draft_rows=draft_rows(),
        origin_rows=rows_as_text(origins),
    )
    found: dict[UUID, TranslationSource] = {}
    for row in rows:
        post = instance_from_row(Post, row)
        live = post_repository.document_from_rows(post, row)
        layers = layers_of(post, live, drafts_from_rows(post, orjson.loads(row["draft_rows"])))
        review = layers.review.document if layers.review.exists else live
        shared = {
            one["instance_id"]: one["instance__props"]
            for one in orjson.loads(row["module_rows"])
            if one["instance__scope"] == "global"
        }
        copies = {one["post"]: one["modules"] for one in orjson.loads(row["origin_rows"])}
        for translation, source in wanted.items():
            if source == post.pk:
                modules = copies.get(str(translation))
                found[translation] = TranslationSource(post, live, review, modules, shared)
    return found


def source_mismatches(
    post: Post, view: LayerView, *, who: Scoped | None = None
) -> Mapping[str, Mismatches]:
    """Return the mismatches of a translation's staged changes by changed path.

    Paths without mismatches are left out. The path of an added module has the mismatches of its contents. One
    query; none for other posts and empty layers. With `who`, returns nothing if they may not see the source;
    pass it wherever source text is shown, but not for mere flags.
    """
    return source_mismatches_of_many([(post, view)], who=who).get((post.pk, view.layer), _NONE)


def source_mismatches_of_many(
    staged: Iterable[tuple[Post, LayerView]], *, who: Scoped | None = None
) -> dict[tuple[UUID, Layer], Mapping[str, Mismatches]]:
    """Return `source_mismatches` of several layers by post and layer. One query."""
    listed = [(post, view) for post, view in staged if view.exists]
    sources = load_sources([post for post, _view in listed], who)
    return {
        (post.pk, view.layer): changed_mismatches(view, sources[post.pk])
        for post, view in listed
        if post.pk in sources
    }


def changed_mismatches(view: LayerView, source: TranslationSource) -> Mapping[str, Mismatches]:
    """Return the mismatches of a layer's changes by changed path."""
    found: dict[str, list[SourceMismatch]] = defaultdict(list)
    paths = view.changes.paths
    for one in source.compare(view.document):
        path = next((known for known in paths if paths_overlap(known, one.path)), None)
        if path is not None:
            found[path].append(one)
    return {path: tuple(mismatches) for path, mismatches in found.items()}


def live_mismatches(
    translations: Sequence[Post], who: Scoped | None = None
) -> dict[UUID, Mismatches]:
    """Return the mismatches of live translations by post id.

    Leaves out missing modules and untranslated texts, which the translation pages list separately.
    """
    sources = load_sources([post for post in translations if not post.is_placeholder], who)
    documents = post_repository.load_many([post for post in translations if post.pk in sources])
    return {
        post.pk: tuple(
            one
            for one in sources[post.pk].compare(document)
            if one.kind != "module" and not sources[post.pk].is_copied(one, document)
        )
        for post, document in documents
    }


def count_mismatches(translations: Sequence[Post], who: Scoped | None = None) -> dict[UUID, int]:
    """Return the number of mismatches of live translations by post id, without zeros.

    Cached for the versions of both posts: at most one query if nothing changed.
    """
    found: dict[UUID, int] = {}
    listed = {post.pk: post for post in translations if post.translated_from_id}
    if not listed:
        return found
    keys = _count_keys(list(listed.values()), who)
    missing = [listed[pk] for pk, key in keys.items() if key not in _counts]
    if len(_counts) + len(missing) > _MAX_COUNTS:
        # Cleared as a whole: most entries are of old versions, which are never read again.
        _counts.clear()
    counted = live_mismatches(missing, who) if missing else {}
    for post in missing:
        _counts[keys[post.pk]] = len(counted.get(post.pk, ()))
    for pk, key in keys.items():
        if count := _counts.get(key, 0):
            found[pk] = count
    return found


_Key = tuple[UUID, int, UUID, int, int]
_counts: dict[_Key, int] = {}
_MAX_COUNTS: Final = 20_000


def _count_keys(translations: Sequence[Post], who: Scoped | None) -> dict[UUID, _Key]:
    """Return cache keys: ids and versions of both posts, and the version of the source's Review."""
    posts = Post.objects.alive() if who is None else visible_to(Post.objects.alive(), who)
    review = Draft.objects.filter(post=OuterRef("pk"), layer=Layer.REVIEW, is_empty=False)
    rows = posts.filter(pk__in={post.translated_from_id for post in translations}).values_list(
        "pk", "version", Subquery(review.values("version")[:1])
    )
    versions = {pk: (version, draft or 0) for pk, version, draft in rows}
    found: dict[UUID, _Key] = {}
    for post in translations:
        source = post.translated_from_id
        if source is not None and source in versions and not post.is_placeholder:
            version, draft = versions[source]
            found[post.pk] = (post.pk, post.version, source, version, draft)
    return found
