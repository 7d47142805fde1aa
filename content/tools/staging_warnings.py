"""Warnings in the results of staging tools about staged values that should be corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal
from uuid import UUID

from content.comparison.agreement.mismatch_text import advice_text
from content.comparison.agreement.translation_comparison import SourceMismatch
from content.layers.stage import Staged
from content.models import Post
from content.store.layer_state import open_layers_of_many, paths_overlap
from content.translations.source_mismatches import TranslationSource, load_sources
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.tools import Result

MAX_WARNINGS: Final = 20
WarningCode = Literal[
    "too_long", "replaced", "dead_link", "forbidden_term", "protected_name", "language", "unchanged",
    "source_mismatch",
]  # fmt: skip


class StagingWarning(Result):
    """`path`: place of the staged value; `message`: one sentence on what to correct."""

    path: str
    code: WarningCode
    message: str


def present_warnings(warnings: Sequence[StagingWarning]) -> JsonObject:
    """Return the warnings of a result, at most `MAX_WARNINGS`; the last one counts the rest. Empty
    without warnings."""
    if not warnings:
        return {}
    limited = list(warnings)
    if len(limited) > MAX_WARNINGS:
        left = len(limited) - MAX_WARNINGS + 1
        first = limited[MAX_WARNINGS - 1]
        message = f"{left} more of these are not shown. Mend those above, and stage again to see the rest."
        limited = [
            *limited[: MAX_WARNINGS - 1],
            StagingWarning(path=first.path, code=first.code, message=message),
        ]
    listed: list[Json] = [one.model_dump(mode="json", by_alias=True) for one in limited]
    return {"warnings": listed}


def translation_warnings(staged: Staged, actor: Actor) -> list[StagingWarning]:
    """Return warnings for differences in meaning between the values this call staged and the translation's source.

    One query; none for other posts. Empty if the actor may not see the source.
    """
    if not staged.paths:
        return []
    source = load_sources([staged.post], actor).get(staged.post.pk)
    if source is None:
        return []
    found = source.compare(staged.document)
    touched = [one for one in found if any(paths_overlap(one.path, path) for path in staged.paths)]
    return _warn(touched, staged, source)


def proposal_warnings(ids: Iterable[UUID], actor: Actor) -> dict[UUID, list[StagingWarning]]:
    """Return the warnings of whole proposed translations by post id. Five queries."""
    posts = list(Post.objects.alive().filter(pk__in=list(ids)))
    sources = load_sources(posts, actor)
    found: dict[UUID, list[StagingWarning]] = {}
    for layers in open_layers_of_many([post for post in posts if post.pk in sources]):
        view, source = layers.ai_review, sources[layers.post.pk]
        whole = Staged(layers.post, view.layer, view.version, view.changes.paths, view.document)
        if warnings := _warn(source.compare(view.document), whole, source):
            found[layers.post.pk] = warnings
    return found


def _warn(
    found: Iterable[SourceMismatch], staged: Staged, source: TranslationSource
) -> list[StagingWarning]:
    """Return the warnings, with a single one for all texts copied from the source."""
    copied: dict[str, None] = {}
    warnings: list[StagingWarning] = []
    for one in found:
        if source.is_copied(one, staged.document):
            copied.setdefault(one.path)
            continue
        code: WarningCode = "language" if one.kind == "language" else "source_mismatch"
        warnings.append(StagingWarning(path=one.path, code=code, message=advice_text(one)))
    if copied:
        first, count = next(iter(copied)), len(copied)
        message = (
            f"{count} texts are still copies of the source, this one first. "
            if count > 1
            else "The text is still a copy of the source. "
        )
        message += "Translate what people read: save_post_ai_review, update_post_module_ai_review."
        warnings.append(StagingWarning(path=first, code="language", message=message))
    return warnings
