"""Where translations do not agree with their sources: of staged changes, and of what is live."""

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
from proofroom.core.database.json_text import JSONObject, rows_as_text
from proofroom.core.database.statements import columns_of, instance_from_row
from proofroom.core.json import Json

Mismatches = tuple[SourceMismatch, ...]
_NONE: Final[Mapping[str, Mismatches]] = {}


@dataclass(frozen=True, slots=True)
class TranslationSource:
    """What a translation was made from: live and in Review, and which of its modules is a copy of which."""

    post: Post
    live: PostDocument
    review: PostDocument
    copies: Mapping[str, str | None] | None
    shared: Mapping[str, Mapping[str, Json]]

    def compare(self, target: PostDocument) -> Mismatches:
        """What a document of the translation does not agree on with its source.

        It may agree with either what is live of it or what waits in Review: a translation is made from both.
        """
        if self.post.is_placeholder:
            return self._compare(self.review, target)
        found = self._compare(self.live, target)
        if self.review is self.live:
            return found
        other = self._compare(self.review, target)
        paths = {one.path for one in other}
        # Of modules that the source has in Review only, what is said there.
        proposed = {own for of, own in (self.copies or {}).items() if of not in self.live.order}
        return tuple(one for one in found if one.path in paths) + tuple(
            one for one in other if one.path.split(".")[1] in proposed
        )

    @property
    def document(self) -> PostDocument:
        """The source as a translation is made from it: live, or what is proposed where nothing is live yet."""
        return self.review if self.post.is_placeholder else self.live

    def value_for(self, path: str) -> Value:
        """The value of the source for a path of the translation; `ABSENT` for what it has none for."""
        if not path.startswith("modules."):
            return value_at(self.document, path)
        _modules, own, *rest = path.split(".", 3)
        module = self.module_for(own)
        if module is None or len(rest) < 2:
            return ABSENT
        props = {**self.shared.get(module.instance_id, {}), **module.props, **module.overrides}
        return props.get(rest[1], ABSENT)

    def is_copied(self, one: SourceMismatch, target: PostDocument) -> bool:
        """Return whether a text in the wrong language is that of the source."""
        return one.kind == "language" and same(value_at(target, one.path), self.value_for(one.path))

    def module_for(self, own: str) -> ModuleDocument | None:
        """The module of the source for one of the translation."""
        of = next((of for of, copy in (self.copies or {}).items() if copy == own), None)
        return self.document.module(of) if of is not None else None

    def _compare(self, source: PostDocument, target: PostDocument) -> Mismatches:
        return compare_translation(source, target, self.copies, self.shared)


def load_sources(
    translations: Sequence[Post], who: Scoped | None = None
) -> dict[UUID, TranslationSource]:
    """Return the sources of translations, by the ids of the translations; a post that is none is left out.

    One query, however many there are, and none where no post is a translation. With `who`, only sources that they may
    see.
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
    """Return what the staged changes of a translation do not agree on with its source, by the paths of the changes.

    A change without an entry agrees. The path of an added module has what is in it; each mismatch has its own path.
    One query; none for a post that is no translation, or a layer without changes. With `who`, nothing where they may
    not see the source: flags need none, whatever shows what the source says does.
    """
    return source_mismatches_of_many([(post, view)], who=who).get((post.pk, view.layer), _NONE)


def source_mismatches_of_many(
    staged: Iterable[tuple[Post, LayerView]], *, who: Scoped | None = None
) -> dict[tuple[UUID, Layer], Mapping[str, Mismatches]]:
    """Return `source_mismatches` of several layers, by post and layer. One query for all of them."""
    listed = [(post, view) for post, view in staged if view.exists]
    sources = load_sources([post for post, _view in listed], who)
    return {
        (post.pk, view.layer): changed_mismatches(view, sources[post.pk])
        for post, view in listed
        if post.pk in sources
    }


def changed_mismatches(view: LayerView, source: TranslationSource) -> Mapping[str, Mismatches]:
    """Return the mismatches of what a layer changes, by the paths of the changes."""
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
    """Return what live translations do not agree on with their sources, by their ids.

    Modules that one has and the other lacks, and texts that are not translated yet, are left out: the pages of
    translations name those by themselves.
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
    """Return how much live translations do not agree on with their sources, by their ids; nothing for what agrees.

    Counted once for the versions of both, then remembered: at most one query where nothing changed.
    """
    found: dict[UUID, int] = {}
    listed = {post.pk: post for post in translations if post.translated_from_id}
    if not listed:
        return found
    keys = _count_keys(list(listed.values()), who)
    missing = [listed[pk] for pk, key in keys.items() if key not in _counts]
    if len(_counts) + len(missing) > _MAX_COUNTS:
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
    """What the count of each depends on: both posts and their versions, and that of the source's Review."""
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
