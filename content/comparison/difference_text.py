"""Translated texts of differences, and summaries, for review pages, the inbox and the API. Pure: no queries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.utils.translation import gettext as _
from pydantic import Field
from typing_extensions import TypedDict

from content.comparison.characters import address_notes, make_visible
from content.comparison.references import References
from content.document.changes import Value
from content.document.differences import (
    KINDS,
    Action,
    Comparison,
    Difference,
    DifferenceKind,
    ShownReference,
    Side,
)
from content.document.post_fields import POST_FIELDS
from proofroom.core.api.answer import one_of
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.definitions.props import option_label

_QUIET_KINDS: Final = frozenset(
    {"text", "space", "position", "module", "new-text", "rewording", "moved"}
)
_MEASURES: Final = frozenset({"new-text", "rewording", "length", "language"})
_ADDRESSES: Final = frozenset({"link", "embed", "seo", "host"})
Triple = tuple[Promise, Promise, Promise]
_SENTENCES: Final[Mapping[DifferenceKind, Triple]] = {
    "text": (
        gettext_lazy("Text changed: %(old)s → %(new)s"),
        gettext_lazy("Text removed: %(what)s"),
        gettext_lazy("Text added: %(what)s"),
    ),
    "date": (
        gettext_lazy("Date changed: %(old)s → %(new)s"),
        gettext_lazy("Date removed: %(what)s"),
        gettext_lazy("Date added: %(what)s"),
    ),
    "price": (
        gettext_lazy("Price changed: %(old)s → %(new)s"),
        gettext_lazy("Price removed: %(what)s"),
        gettext_lazy("Price added: %(what)s"),
    ),
    "number": (
        gettext_lazy("Number changed: %(old)s → %(new)s"),
        gettext_lazy("Number removed: %(what)s"),
        gettext_lazy("Number added: %(what)s"),
    ),
    "negation": (
        gettext_lazy("Negation changed: “%(old)s” → “%(new)s”"),
        gettext_lazy("Negation removed: “%(what)s”"),
        gettext_lazy("Negation added: “%(what)s”"),
    ),
    "modality": (
        gettext_lazy("Obligation changed: “%(old)s” → “%(new)s”"),
        gettext_lazy("Obligation removed: “%(what)s”"),
        gettext_lazy("Obligation added: “%(what)s”"),
    ),
    "opposite": (
        gettext_lazy("Opposite: “%(old)s” → “%(new)s”"),
        gettext_lazy("Opposite removed: “%(what)s”"),
        gettext_lazy("Opposite added: “%(what)s”"),
    ),
    "number-word": (
        gettext_lazy("Number in words changed: %(old)s → %(new)s"),
        gettext_lazy("Number in words removed: %(what)s"),
        gettext_lazy("Number in words added: %(what)s"),
    ),
    "quantity": (
        gettext_lazy("Quantity changed: %(old)s → %(new)s"),
        gettext_lazy("Quantity removed: %(what)s"),
        gettext_lazy("Quantity added: %(what)s"),
    ),
    "claim": (
        gettext_lazy("Claim changed: “%(old)s” → “%(new)s”"),
        gettext_lazy("Claim removed: “%(what)s”"),
        gettext_lazy("Claim added: “%(what)s”"),
    ),
    "host": (
        gettext_lazy("Host changed: %(old)s → %(new)s"),
        gettext_lazy("Host removed: %(what)s"),
        gettext_lazy("Host added: %(what)s"),
    ),
    "name": (
        gettext_lazy("Name changed: %(old)s → %(new)s"),
        gettext_lazy("Name removed: %(what)s"),
        gettext_lazy("Name added: %(what)s"),
    ),
    "link": (
        gettext_lazy("Link changed: %(old)s → %(new)s"),
        gettext_lazy("Link removed: %(what)s"),
        gettext_lazy("Link added: %(what)s"),
    ),
    "image": (
        gettext_lazy("Image changed: %(old)s → %(new)s"),
        gettext_lazy("Image removed: %(what)s"),
        gettext_lazy("Image added: %(what)s"),
    ),
    "embed": (
        gettext_lazy("Embedded page changed: %(old)s → %(new)s"),
        gettext_lazy("Embedded page removed: %(what)s"),
        gettext_lazy("Embedded page added: %(what)s"),
    ),
    "reference": (
        gettext_lazy("Reference changed: %(old)s → %(new)s"),
        gettext_lazy("Reference removed: %(what)s"),
        gettext_lazy("Reference added: %(what)s"),
    ),
    "mark": (
        gettext_lazy("Formatting changed: %(old)s → %(new)s"),
        gettext_lazy("Formatting removed: %(what)s"),
        gettext_lazy("Formatting added: %(what)s"),
    ),
    "structure": (
        gettext_lazy("Structure changed: %(old)s → %(new)s"),
        gettext_lazy("Structure removed: %(what)s"),
        gettext_lazy("Structure added: %(what)s"),
    ),
    "code": (
        gettext_lazy("Code changed: %(old)s → %(new)s"),
        gettext_lazy("Code removed: %(what)s"),
        gettext_lazy("Code added: %(what)s"),
    ),
    "space": (
        gettext_lazy("Spacing changed: %(old)s → %(new)s"),
        gettext_lazy("Spacing removed: %(what)s"),
        gettext_lazy("Spacing added: %(what)s"),
    ),
    "choice": (
        gettext_lazy("Option changed: %(old)s → %(new)s"),
        gettext_lazy("Option removed: %(what)s"),
        gettext_lazy("Option added: %(what)s"),
    ),
    "boolean": (
        gettext_lazy("Setting changed: %(old)s → %(new)s"),
        gettext_lazy("Setting removed: %(what)s"),
        gettext_lazy("Setting added: %(what)s"),
    ),
    "characters": (
        gettext_lazy("Hidden or look-alike characters changed: %(old)s → %(new)s"),
        gettext_lazy("Hidden or look-alike characters removed: %(what)s"),
        gettext_lazy("Hidden or look-alike characters: %(what)s"),
    ),
    "slug": (
        gettext_lazy("Address changed: %(old)s → %(new)s"),
        gettext_lazy("Address removed: %(what)s"),
        gettext_lazy("Address added: %(what)s"),
    ),
    "seo": (
        gettext_lazy("Search engine setting changed: %(old)s → %(new)s"),
        gettext_lazy("Search engine setting removed: %(what)s"),
        gettext_lazy("Search engine setting added: %(what)s"),
    ),
    "structured-data": (
        gettext_lazy("Structured data changed: %(old)s → %(new)s"),
        gettext_lazy("Structured data removed: %(what)s"),
        gettext_lazy("Structured data added: %(what)s"),
    ),
    "module": (
        gettext_lazy("Module changed: %(old)s → %(new)s"),
        gettext_lazy("Module removed: %(what)s"),
        gettext_lazy("Module added: %(what)s"),
    ),
    "new-text": (
        gettext_lazy("New text: %(new)s"),
        gettext_lazy("New text: %(what)s"),
        gettext_lazy("New text: %(what)s"),
    ),
    "rewording": (
        gettext_lazy("Another word: %(old)s → %(new)s"),
        gettext_lazy("Words removed: %(what)s"),
        gettext_lazy("Reworded: %(what)s"),
    ),
    "moved": (
        gettext_lazy("Moved: %(old)s → %(new)s"),
        gettext_lazy("Moved from: %(what)s"),
        gettext_lazy("Moved to: %(what)s"),
    ),
    "length": (
        gettext_lazy("Much shorter: %(old)s → %(new)s"),
        gettext_lazy("Too long: %(what)s"),
        gettext_lazy("Too long: %(what)s"),
    ),
    "language": (
        gettext_lazy("Another language: %(new)s, not %(old)s"),
        gettext_lazy("Another language: %(what)s"),
        gettext_lazy("Another language: %(what)s"),
    ),
    "ungrounded": (
        gettext_lazy("Not in the post, its sources or the site: %(new)s"),
        gettext_lazy("Not in the post, its sources or the site: %(what)s"),
        gettext_lazy("Not in the post, its sources or the site: %(what)s"),
    ),
    "source-mismatch": (
        gettext_lazy("Does not match the source: %(old)s → %(new)s"),
        gettext_lazy("Missing from the translation: %(what)s"),
        gettext_lazy("Not in the source: %(what)s"),
    ),
    "position": (
        gettext_lazy("Position changed: %(old)s → %(new)s"),
        gettext_lazy("Position removed: %(what)s"),
        gettext_lazy("Position added: %(what)s"),
    ),
}
_DIGITS: Final = re.compile(r"\d+")
_AMONG: Final = re.compile(r"(\d+ / \d+)(?: \((.*)\))?", re.DOTALL)
_MODULE: Final = re.compile(r"(.*?)( \d+)?", re.DOTALL)
_PLACES: Final = frozenset(
    {
        gettext_noop("Item %(number)s"),
        gettext_noop("Item %(number)s."),
        gettext_noop("List item %(number)s"),
        gettext_noop("Row %(number)s"),
        gettext_noop("header cell %(number)s"),
        gettext_noop("cell %(number)s"),
        gettext_noop("paragraph %(number)s"),
        gettext_noop("Heading %(number)s"),
        gettext_noop("starts at %(number)s"),
        gettext_noop("%(number)s columns wide"),
        gettext_noop("%(number)s rows high"),
    }
)
_KINDS_OF_BLOCKS: Final = (
    gettext_noop("Paragraph"),
    gettext_noop("Code"),
    gettext_noop("Bulleted list"),
    gettext_noop("Numbered list"),
    gettext_noop("Quote"),
    gettext_noop("Table"),
    gettext_noop("Header cell"),
    gettext_noop("Table cell"),
    gettext_noop("Horizontal line"),
)
"""Block names of `content.comparison.richtext_comparison`, repeated here for the message catalogue."""
_MARKS: Final[Mapping[str, Promise]] = {
    "bold": gettext_lazy("bold"),
    "italic": gettext_lazy("italic"),
    "strike": gettext_lazy("strikethrough"),
    "superscript": gettext_lazy("superscript"),
    "subscript": gettext_lazy("subscript"),
    "code": gettext_lazy("code"),
}


_MIN_NOTABLE_CHANGE: Final = 0.1
"""Share of words below which a change of length is not mentioned."""
_NUMBERS: Final = frozenset({"number", "price", "date"})


@dataclass(frozen=True, slots=True)
class Note:
    """A difference as a complete sentence, with its place."""

    kind: DifferenceKind
    action: str
    text: str
    about: str
    place: str

    @property
    def is_loud(self) -> bool:
        return self.kind not in _QUIET_KINDS


def note_of(difference: Difference, references: References, *, here: tuple[str, ...] = ()) -> Note:
    """Return a difference as text. `here`: the place that is displayed above it already."""
    changed, removed, added = _SENTENCES[difference.kind]
    before, after = (
        side_text(difference, side, references) for side in (difference.before, difference.after)
    )
    if difference.action == "changed":
        text = str(changed) % {"old": before, "new": after}
    else:
        text = str(added if difference.before is None else removed) % {"what": after or before}
    place = "" if difference.place == here else place_text(difference)
    about = difference.about
    words = make_visible(about) if about.strip() else spelled_space(about)
    return Note(difference.kind, difference.action, text, words, place)


def place_text(difference: Difference) -> str:
    return role_text(" › ".join(difference.place))


def role_text(role: str) -> str:
    """Return the translated text of a place or role."""
    parts = (
        " · ".join(map(_translate_label, part.split(" · "))) for part in role.split(" › ") if part
    )
    return make_visible(" › ".join(parts))


def _translate_label(text: str) -> str:
    """Translate a label of a definition or one of `_PLACES`. Other text stays unchanged."""
    number = _DIGITS.search(text)
    if number is not None:
        key = f"{text[: number.start()]}%(number)s{text[number.end() :]}"
        if key in _PLACES:
            return gettext(key) % {"number": number[0]}
    return in_words(text) if text.strip() else text


def side_text(difference: Difference, side: Side | None, references: References) -> str | None:
    """Return the text of one side with invisible characters named, None if it is empty."""
    if side is None:
        return None
    if isinstance(side, ShownReference):
        return make_visible(references.title(side))
    kind = difference.kind
    if kind in _MEASURES:
        return _measure_text(difference, side)
    if kind == "mark" and side in _MARKS:
        return str(_MARKS[side])
    if kind == "boolean":
        return {"true": _("Yes"), "false": _("No")}.get(side) or make_visible(side)
    if not side.strip():
        return spelled_space(side)
    if kind == "position":
        # A place among the modules: "3 / 5", "after Callout 2", "3 / 5 (after Callout 2)".
        among = _AMONG.fullmatch(side)
        number, place = among.groups() if among is not None else ("", side)
        if not place:
            return number
        if place == "first":
            words = _("first")
        else:
            name, count = _MODULE.fullmatch(place.removeprefix("after ")).groups()  # type: ignore[union-attr]  # the pattern matches any text
            words = _("after %(module)s") % {"module": make_visible(in_words(name)) + (count or "")}
        return f"{number} ({words})" if number else words
    if kind in ("structure", "module", "moved"):
        return role_text(side)
    if kind == "choice":
        return in_words(option_label(make_visible(side)))
    if kind == "space":
        return spelled_space(side)
    text = make_visible(side)
    if kind in _ADDRESSES and (notes := address_notes(side)) and not side.endswith(notes[-1]):
        # A side with " · " lists several settings, of which the notes would describe only one.
        return f"{text} ({', '.join(notes)})" if " · " not in side else text
    return text


def _measure_text(difference: Difference, side: str) -> str:
    """Return the text of a finding that counts or names a language: "33 words", "4 of 18 words", "German"."""
    if difference.kind == "language":
        return language_name(side)
    if difference.kind == "rewording":
        if difference.before is not None:
            return f"“{make_visible(side)}”"
        changed, _slash, total = side.partition("/")
        words = ngettext("%(count)s of %(total)s word", "%(count)s of %(total)s words", int(total))
        return words % {"count": changed, "total": total}
    if difference.about == "characters":
        return ngettext("%(count)s character", "%(count)s characters", int(side)) % {"count": side}
    return ngettext("%(count)s word", "%(count)s words", int(side)) % {"count": side}


def spelled_space(space: str) -> str:
    """Return the names and counts of white space: "2 spaces", "line break"."""
    parts = []
    for char, run in groupby(space):
        count = len(list(run))
        name = {" ": _("space"), "\n": _("line break")}.get(char) or make_visible(char)
        parts.append(f"{count} × {name}" if count > 1 else name)
    return ", ".join(parts)


class PieceAnswer(TypedDict):
    """One difference. Invisible characters in a text are written by name in brackets: ⟦U+200B …⟧."""

    kind: Annotated[str, one_of(KINDS)]
    place: Annotated[str, Field(description="Where it is in the value, in words.")]
    before: str | None
    after: str | None
    about: Annotated[
        str | None,
        Field(description="The words that carry it: the text of a link, what is bold."),
    ]
    passage: Annotated[
        str | None,
        Field(
            description="Names the passage in `paths` of approve, submit and reject: `<path>#<passage>`. "
            "Null where the change is one decision."
        ),
    ]


def piece_of(difference: Difference, references: References, passage: str) -> PieceAnswer:
    """Return a difference in the format of the API."""
    return {
        "kind": difference.kind,
        "place": place_text(difference),
        "before": side_text(difference, difference.before, references),
        "after": side_text(difference, difference.after, references),
        "about": make_visible(difference.about) or None,
        "passage": passage or None,
    }


class FindingAnswer(TypedDict):
    """A finding in a change besides its pieces: new text, another language, an ungrounded name."""

    flag: Annotated[str, Field(description="One of the flags of the change.")]
    text: Annotated[str, Field(description="The finding in words: “New text: 33 words”.")]
    place: Annotated[str, Field(description="Where it is in the value, in words.")]


def finding_of(difference: Difference, references: References) -> FindingAnswer:
    """Return a finding in the format of the API."""
    note = note_of(difference, references)
    return {"flag": difference.kind, "text": note.text, "place": note.place}


def summarize(comparison: Comparison) -> str:
    """Return a summary sentence: "Shortened by 30 %, 1 link added, 1 number changed." Empty if there is none."""
    counts: Counter[tuple[str, Action]] = Counter()
    for one in comparison.differences:
        counts["number" if one.kind in _NUMBERS else one.kind, one.action] += 1
    phrases: list[tuple[str, Action, Callable[[int], str]]] = [
        ("link", "changed", lambda n: ngettext("%(count)s link changed", "%(count)s links changed", n)),
        ("link", "added", lambda n: ngettext("%(count)s link added", "%(count)s links added", n)),
        ("link", "removed", lambda n: ngettext("%(count)s link removed", "%(count)s links removed", n)),
        ("image", "changed", lambda n: ngettext("%(count)s image changed", "%(count)s images changed", n)),
        ("image", "added", lambda n: ngettext("%(count)s image added", "%(count)s images added", n)),
        ("image", "removed", lambda n: ngettext("%(count)s image removed", "%(count)s images removed", n)),
        ("number", "changed", lambda n: ngettext("%(count)s number changed", "%(count)s numbers changed", n)),
        ("number", "added", lambda n: ngettext("%(count)s number added", "%(count)s numbers added", n)),
        ("number", "removed", lambda n: ngettext("%(count)s number removed", "%(count)s numbers removed", n)),
    ]  # fmt: skip
    length = _length_text(comparison.words_before, comparison.words_after, comparison)
    parts = [
        phrase(count) % {"count": count}
        for kind, action, phrase in phrases
        if (count := counts[kind, action])
    ]
    text = ", ".join([length, *parts] if length else parts)
    return text[:1].upper() + text[1:] + "." if text else ""


def length_note(path: str, before: Value, after: Value) -> str:
    """Return the length of a text that search engines truncate. Empty for any other field."""
    declared = POST_FIELDS.get(path.removeprefix("post."))
    most = declared.advised_length if declared and path.startswith("post.") else None
    if most is None:
        return ""
    old, new = (len(value) if isinstance(value, str) else 0 for value in (before, after))
    words = {"old": old, "new": new, "over": new - most}
    if new > most:
        return _("%(old)s → %(new)s characters, %(over)s more than search results show") % words
    return _("%(old)s → %(new)s characters") % words


def _length_text(old: int, new: int, comparison: Comparison) -> str:
    if not old:
        words = ngettext("new text of %(count)s word", "new text of %(count)s words", new)
        return words % {"count": new} if new else ""
    if not new:
        return _("all text removed")
    share = (new - old) / old
    if abs(share) < _MIN_NOTABLE_CHANGE:
        is_reworded = any(one.kind == "text" for one in comparison.differences)
        return _("reworded, about the same length") if is_reworded else ""
    if new >= 2 * old:
        words = ngettext(
            "expanded from %(old)s word to %(new)s", "expanded from %(old)s words to %(new)s", old
        )
        return words % {"old": old, "new": new}
    percent = {"percent": round(abs(share) * 100)}
    return (
        _("lengthened by %(percent)s %%") if share > 0 else _("shortened by %(percent)s %%")
    ) % percent
