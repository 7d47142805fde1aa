"""The source text beside the changes of a translation, and their mismatches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from content.comparison.agreement.mismatch_text import mismatch_text
from content.comparison.change_comparison import shape_at
from content.comparison.comparison import compare_modules
from content.comparison.references import References
from content.document.changes import ABSENT, Change
from content.document.differences import Segment
from content.document.document import ModuleDocument
from content.layers import LayerView
from content.models import Post
from content.presenters.cards import ChangeCard, DiffStretch, ShownLine, lines_of, lines_of_value
from content.store.translation_status import is_translated_text
from content.translations.source_mismatches import (
    TranslationSource,
    changed_mismatches,
    load_sources,
)
from proofroom.core.content_scope import Scoped
from proofroom.definitions import modules, props_of

_PLAIN: Final = References()
_FACTS: Final = frozenset({"number", "date", "price", "name", "negation"})
MAX_SHOWN: Final = 30
"""Maximum number of mismatches on a card; others are counted."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The source text for a change in a translation. `stretches` is empty if the source has no text there."""

    locale: str
    title: str
    stretches: tuple[DiffStretch, ...]
    mismatches: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        return self.mismatches[:MAX_SHOWN]

    @property
    def more(self) -> int:
        return max(0, len(self.mismatches) - MAX_SHOWN)


def source_texts(post: Post, view: LayerView, who: Scoped) -> Mapping[str, SourceText]:
    """Return the source texts by path of a layer's changes.

    Empty for a post that is not a translation, or whose source `who` may not see. One query for a translation.
    """
    source = load_sources([post], who).get(post.pk)
    if source is None:
        return {}
    mismatches = changed_mismatches(view, source)
    found: dict[str, SourceText] = {}
    for change in view.changes:
        lines = _lines(change, view, source)
        texts = tuple(map(mismatch_text, mismatches.get(change.path, ())))
        if lines or texts:
            stretches = (DiffStretch(tuple(lines), is_folded=False),) if lines else ()
            found[change.path] = SourceText(source.post.locale, source.post.title, stretches, texts)
    return found


def without_agreeing_facts(card: ChangeCard) -> ChangeCard:
    """Return a card of new text in a translation without notes on facts, which the source contains too.

    Mismatches with the source are reported separately.
    """
    if card.comparison.words_before:
        return card
    lines = tuple(
        replace(line, notes=tuple(note for note in line.notes if note.kind not in _FACTS))
        for line in card.lines
    )
    return replace(card, lines=lines)


def _lines(change: Change, view: LayerView, source: TranslationSource) -> Sequence[ShownLine]:
    """Return the source lines of a change; empty for other values than text."""
    document = view.document
    # The layer adds, removes or replaces the whole module.
    if change.kind != "moved" and change.module_id and change.path.count(".") == 1:
        module = source.module_for(change.module_id)
        return _lines_of_module(module, source) if module is not None else ()
    if change.module_id and document.module(change.module_id) is None:
        # The layer removes the module.
        document = view.below
    value = source.value_for(change.path)
    if value is ABSENT or not is_translated_text(change.path, document):
        return ()
    return _words(lines_of_value(value, shape_at(change.path, document), _PLAIN))


def _lines_of_module(module: ModuleDocument, source: TranslationSource) -> Sequence[ShownLine]:
    definition = modules.get(module.type)
    if definition is None:
        return ()
    props = {**source.shared.get(module.instance_id, {}), **module.props, **module.overrides}
    known = props_of(definition.Props)
    texts = {
        name: value for name, value in props.items() if name in known and known[name].translatable
    }
    # As a local and unlocked module, so that nothing but its texts is listed.
    plain = replace(
        module, props=texts, overrides={}, scope="local", global_slug=None, locked=False
    )
    comparison = compare_modules(None, plain, language=source.post.locale)
    return _words(lines_of(comparison, _PLAIN))


def _words(lines: Sequence[ShownLine]) -> Sequence[ShownLine]:
    """Return the lines with text, marked as unchanged."""
    return [
        replace(
            line,
            status="same",
            segments=tuple(Segment("same", part.text) for part in line.segments),
            notes=(),
            media_before=None,
            media_after=None,
        )
        for line in lines
        if any(part.text.strip() for part in line.segments)
    ]
