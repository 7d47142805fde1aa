"""Compares a translation with its source: paired modules, stale values, and the source's values at
translation time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal
from uuid import UUID

from content.document.changes import ABSENT, Value, value_at
from content.document.document import ModuleDocument, PostDocument
from content.layers import Layers
from content.models import CopyOrigin, Post
from content.store import post_repository
from content.store.scopes import visible_to
from content.store.translation_status import (
    TranslationState,
    compare_hashes,
    hash_value,
    is_translated_text,
    source_hashes,
    states_of,
)
from proofroom.core.content_scope import Scoped
from proofroom.definitions import modules as module_types

_MAX_REVISIONS: Final = 500
"""Number of source revisions whose changed paths are searched for an earlier text."""
_MAX_DOCUMENTS: Final = 40
"""Number of source revisions whose documents are loaded."""

PairState = Literal["paired", "new", "waiting", "omitted", "removed", "own"]


@dataclass(frozen=True, slots=True)
class ModulePair:
    """A module of the source with its copy in the translation.

    `new`: not copied yet; `waiting`: the copy is in a layer that is not shown; `omitted`: deliberately not
    copied; `removed`: deleted from the source; `own`: only in the translation.
    """

    state: PairState
    source: ModuleDocument | None = None
    own: ModuleDocument | None = None


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """A translation compared with its source.

    `compared`: source hashes by translation path. `earlier`: for stale paths the source's value at translation
    time, if a revision has it.
    """

    post: Post
    document: PostDocument
    state: TranslationState
    compared: Mapping[str, str]
    earlier: Mapping[str, Value]
    modules: tuple[ModulePair, ...]
    order: tuple[str, ...]
    """Module ids of the translation in the order of the source."""
    source_ids: Mapping[str, str]
    """Source module ids by translation module id."""

    def source_path(self, path: str) -> str:
        """Return the source path for a translation path."""
        return _source_path(path, self.source_ids)


def compare_with_source(
    post: Post,
    layers: Layers,
    shown: PostDocument,
    who: Scoped,
) -> SourceComparison | None:
    """Compare the shown document of a translation with its source. Return None without a source visible to `who`.

    Four queries, and two more if a value is stale.
    """
    if post.translated_from_id is None:
        return None
    origin = CopyOrigin.objects.filter(post=post).first()
    source = visible_to(Post.objects.alive(), who).filter(pk=post.translated_from_id).first()
    if origin is None or source is None:
        return None
    document = post_repository.load(source)
    state = compare_hashes(post, origin, document, set(layers.live.order))
    source_ids = {own: source_id for source_id, own in origin.modules.items() if own}
    wanted = {
        path: (_source_path(path, source_ids), origin.hashes[path])
        for path in state.stale_paths
        if path in origin.hashes
    }
    elsewhere = {*layers.live.order, *layers.review.document.order}
    elsewhere |= set(layers.ai_review.document.order)
    pairs = _pair_modules(document, shown, origin.modules, state, elsewhere)
    return SourceComparison(
        source,
        document,
        state,
        source_hashes(document, origin.modules),
        find_earlier_values(source, wanted),
        tuple(pairs),
        modules_in_source_order(document, shown, source_ids),
        source_ids,
    )


def texts_to_translate(post: Post, document: PostDocument) -> list[str]:
    """Return the paths of texts that are stale or untranslated. Five queries."""
    state = states_of([post]).get(post.pk)
    return (
        [path for path in state.stale_or_untranslated_paths if is_translated_text(path, document)]
        if state
        else []
    )


def _source_path(path: str, source_ids: Mapping[str, str]) -> str:
    if not path.startswith("modules."):
        return path
    _, own, rest = path.split(".", 2)
    return f"modules.{source_ids.get(own, own)}.{rest}"


def _pair_modules(
    source: PostDocument,
    shown: PostDocument,
    copies: Mapping[str, str | None],
    state: TranslationState,
    elsewhere: set[str],
) -> list[ModulePair]:
    """Return the modules of both documents in reading order.

    Modules only in the translation follow their predecessor.
    """
    pairs: list[ModulePair] = []
    new = {module.id for module in state.new_modules}
    for module in source.modules:
        own_id = copies.get(module.id)
        own = shown.module(own_id) if own_id else None
        if own is not None:
            pairs.append(ModulePair("paired", module, own))
        elif module.type in module_types:
            is_waiting = own_id is not None and own_id in elsewhere
            kind: PairState = "new" if module.id in new else "waiting" if is_waiting else "omitted"
            pairs.append(ModulePair(kind, module))
    paired = {pair.own.id for pair in pairs if pair.own}
    removed = {own for own, _ in state.removed_modules}
    before = ""
    for module in shown.modules:
        if module.id not in paired:
            kind = "removed" if module.id in removed else "own"
            places = [at for at, pair in enumerate(pairs) if pair.own and pair.own.id == before]
            pairs.insert(places[0] + 1 if places else 0, ModulePair(kind, own=module))
        before = module.id
    return pairs


def modules_in_source_order(
    source: PostDocument, own: PostDocument, source_ids: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the modules of a translation in source order.

    Modules only in the translation stay after their predecessor.
    """
    places = {id_: at for at, id_ in enumerate(source.order)}
    known = [id_ for id_ in own.order if source_ids.get(id_) in places]
    ordered = sorted(known, key=lambda id_: places[source_ids[id_]])
    before = ""
    for id_ in own.order:
        if id_ not in known:
            ordered.insert(ordered.index(before) + 1 if before else 0, id_)
        before = id_
    return tuple(ordered)


def find_earlier_values(source: Post, wanted: Mapping[str, tuple[str, str]]) -> dict[str, Value]:
    """Return earlier values of the source. `wanted` maps keys to a path and the hash of its value.

    Values that no revision has are left out. Two queries.
    """
    if not wanted:
        return {}
    rows = list(
        source.revisions.order_by("-version").values_list("pk", "changed_paths")[:_MAX_REVISIONS]
    )
    paths = {path for path, _ in wanted.values()}
    # A revision holds a value until the next revision changes it, so only revisions before a change of a path
    # are candidates, newest first.
    candidates: list[UUID] = [
        older
        for (_newer, changed), (older, _changed) in pairwise(rows)
        if any(_touches(changed, path) for path in paths)
    ]
    candidates = candidates[: _MAX_DOCUMENTS - 1] + [pk for pk, _ in rows[-1:]]
    stored = source.revisions.filter(pk__in=candidates).order_by("-version")
    found: dict[str, Value] = {}
    for document in stored.values_list("document", flat=True):
        revision = PostDocument.from_json(document)
        for key, (path, hashed) in wanted.items():
            if key in found:
                continue
            value = value_at(revision, path)
            # Hashes of missing post fields were made from None.
            plain = None if value is ABSENT and path.startswith("post.") else value
            if plain is not ABSENT and hash_value(plain) == hashed:
                found[key] = plain
    return found


def _touches(changed: Sequence[str], path: str) -> bool:
    """Return whether the changed paths include this path or its module."""
    return path in changed or (
        path.startswith("modules.") and ".".join(path.split(".")[:2]) in changed
    )
