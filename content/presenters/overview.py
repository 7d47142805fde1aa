"""Summary of a layer's changes: language, length, facts, links and reading level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.words.reading_level import reading_ease
from content.document.document import PostDocument
from content.presenters.cards import ChangeCard
from proofroom.core.i18n.languages import language_name
from proofroom.definitions import custom_text_of, text_of

CheckName = Literal["language", "length", "facts", "links", "reading"]
FACTS: Final = frozenset(
    {
        *(
            "price",
            "number",
            "quantity",
            "number-word",
            "opposite",
            "negation",
            "modality",
            "claim",
        ),
        *("ungrounded", "date", "name", "source-mismatch"),
    }
)
LINKS: Final = frozenset({"host", "link", "embed", "reference", "slug"})
_NOTICED: Final = 10.0
"""Difference in reading ease (of 100 points) that counts as harder to read."""
_GROWN: Final = 10
"""Growth factor from which a text counts as new."""


@dataclass(frozen=True, slots=True)
class OverviewCheck:
    """One check over all changes. `path` is the first change that failed it."""

    name: CheckName
    label: str
    text: str
    is_passed: bool
    path: str = ""


def check_changes(
    cards: Sequence[ChangeCard],
    before: PostDocument,
    after: PostDocument,
) -> list[OverviewCheck]:
    """Return the checks over all changes between two documents."""
    old, new = text_of_document(before), text_of_document(after)
    return [
        _language(cards, after.locale),
        _length(cards, len(old.split()), len(new.split())),
        _flagged("facts", _("Facts"), cards, FACTS, _("unchanged")),
        _flagged("links", _("Links"), cards, LINKS, _("unchanged")),
        *_reading(old, new, after.locale),
    ]


def text_of_document(document: PostDocument) -> str:
    """Return the text visible to readers of the page."""
    texts = [str(document.fields.get(name) or "") for name in ("title", "excerpt")]
    texts.append(custom_text_of(document.type, document.custom_fields))
    texts += [
        text_of(module.type, {**module.props, **module.overrides}) for module in document.modules
    ]
    return "\n".join(text for text in texts if text)


def _first(cards: Iterable[ChangeCard], flags: frozenset[str]) -> str:
    return next((card.path for card in cards if flags.intersection(card.risk.flags)), "")


def _language(cards: Sequence[ChangeCard], locale: str) -> OverviewCheck:
    path = _first(cards, frozenset({"language"}))
    name = language_name(locale)
    text = _("not all %(language)s") % {"language": name} if path else name
    return OverviewCheck("language", _("Language"), text, not path, path)


def _length(cards: Sequence[ChangeCard], old: int, new: int) -> OverviewCheck:
    path = _first(cards, frozenset({"length"}))
    words = ngettext("%(count)s word", "%(count)s words", new) % {"count": new}
    # For very short texts, such as a placeholder's title, a percentage means nothing.
    if old != new and new < _GROWN * old:
        words = f"{words} ({100 * (new - old) / old:+.0f} %)"
    return OverviewCheck("length", _("Length"), words, not path, path)


def _flagged(
    name: CheckName,
    label: str,
    cards: Sequence[ChangeCard],
    flags: frozenset[str],
    nothing: str,
) -> OverviewCheck:
    counts = Counter(bool(flags.intersection(card.risk.flags)) for card in cards)
    count = counts[True]
    text = ngettext("%(count)s change to check", "%(count)s changes to check", count)
    return OverviewCheck(
        name, label, text % {"count": count} if count else nothing, not count, _first(cards, flags)
    )


def _reading(old: str, new: str, locale: str) -> list[OverviewCheck]:
    """Return the reading level check, or nothing if the language has no formula or the text is too short."""
    ease, before = reading_ease(new, locale), reading_ease(old, locale)
    if ease is None:
        return []
    words = _describe_ease(ease)
    is_harder = before is not None and before - ease >= _NOTICED
    if is_harder:
        words = _("%(level)s, harder than before") % {"level": words}
    return [OverviewCheck("reading", _("Reading level"), words, not is_harder)]


def _describe_ease(ease: float) -> str:
    """Return a label for a score, by the bands of Flesch (1949)."""
    if ease >= 70:
        return _("easy")
    if ease >= 50:
        return _("medium")
    return _("difficult") if ease >= 30 else _("very difficult")
