"""Warnings in the results of staging tools about staged values that should be corrected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal
from uuid import UUID

from content.comparison.agreement.mismatch_text import advice_text
from content.comparison.agreement.translation_comparison import SourceMismatch
from content.document.post_fields import POST_FIELDS
from content.inbox.rows import findings_from_json, rules_of
from content.layers.stage import Staged
from content.models import Post, QueuedChange
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


def staging_warnings(
    staged: Staged, actor: Actor, sent: Sequence[str] = ()
) -> list[StagingWarning]:
    """Return warnings about the values that this call staged, and about values of `sent` that it did not change.

    `sent`: paths of the values in the call. One query, and one more for a translation.
    """
    found = translation_warnings(staged, actor)
    judged = list(_judged_warnings(staged)) if staged.paths else []
    known = {(one.path, one.code) for one in found}
    found += [one for one in judged if (one.path, one.code) not in known]
    for path in staged.paths:
        if (too_long := _length_warning(path, staged)) is not None:
            found.append(too_long)
    for path, author in staged.replaced:
        message = f"This replaced what {author} had staged here."
        found.append(StagingWarning(path=path, code="replaced", message=message))
    for path in sent:
        if not any(paths_overlap(path, own) for own in staged.paths):
            message = "This is the present value already. Nothing was staged here."
            found.append(StagingWarning(path=path, code="unchanged", message=message))
    return found


def _judged_warnings(staged: Staged) -> Iterator[StagingWarning]:
    """Yield what the assessment of the changes found, as stored with their inbox rows. One query."""
    rows = QueuedChange.objects.filter(post=staged.post, layer=staged.layer)
    for row in rows.only("path", "findings").order_by("pk"):
        if not any(paths_overlap(row.path, path) for path in staged.paths):
            continue
        for rule in rules_of(row):
            if rule.code and any(paths_overlap(rule.path, path) for path in staged.paths):
                yield StagingWarning(path=rule.path, code=rule.code, message=rule.message)
        # For a translation, `translation_warnings` compares the language with that of the source.
        if staged.post.translated_from_id is None:
            yield from _language_warnings(row, staged.document.locale)


def _language_warnings(row: QueuedChange, language: str) -> Iterator[StagingWarning]:
    for _line, finding in findings_from_json(row.findings).found:
        if finding.kind == "language":
            message = f"The text is in {finding.after!r}. Write it in {language!r}."
            yield StagingWarning(path=row.path, code="language", message=message)


def _length_warning(path: str, staged: Staged) -> StagingWarning | None:
    declared = POST_FIELDS.get(path.removeprefix("post.")) if path.startswith("post.") else None
    value = staged.document.fields.get(declared.name) if declared is not None else None
    if declared is None or declared.advised_length is None or not isinstance(value, str):
        return None
    if len(value) <= declared.advised_length:
        return None
    message = f"{declared.label} has {len(value)} characters. Search engines show about {declared.advised_length}."
    return StagingWarning(path=path, code="too_long", message=message)


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
        paths, document = view.changes.paths, view.document
        whole = Staged(layers.post, view.layer, view.version, paths, document, view.changes)
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
