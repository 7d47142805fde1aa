"""What a reviewer must not miss in a changed text, and what happened to it, in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.review.proper_names import names, vanished
from content.review.spotting import Spotted, spot
from content.review.texts import Text, addresses

__all__ = ["Fact", "Text", "addresses", "facts", "summary"]

FactKind = Literal[
    "date", "price", "number", "negation", "name", "link", "image", "length", "setting", "structure"
]
_LISTED: Final = 4
_NOTICED: Final = 0.1
"""A share of words below which a change of length is not worth a sentence."""
_LIMITS: Final = {"post.metaTitle": 60, "post.metaDescription": 160}
"""Characters that search engines show."""
_PAIRED: Final = frozenset({"date", "price", "number", "negation"})
"""What is told as a change from one to the other, where as many went as came."""
_WORDS: Final[dict[FactKind, tuple[Promise, Promise, Promise]]] = {
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
        gettext_lazy("Denial changed: “%(old)s” → “%(new)s”"),
        gettext_lazy("Denial removed: “%(what)s”"),
        gettext_lazy("Denial added: “%(what)s”"),
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
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A chip beside a diff. Loud ones are about facts, not style."""

    kind: FactKind
    text: str

    @property
    def is_loud(self) -> bool:
        return self.kind != "length"


Moved = tuple[list[str], list[str]]


def facts(path: str, before: Text, after: Text, language: str = "en") -> tuple[Fact, ...]:
    """The chips of a changed text, the loudest first. `language` is that of the text."""
    moved = _moved(before, after, language)
    return (
        *(fact for kind, pair in moved.items() if any(pair) for fact in _chips(kind, *pair)),
        *_length_facts(path, before.words, after.words),
    )


def _moved(before: Text, after: Text, language: str) -> dict[FactKind, Moved]:
    """What went and what came, by kind of fact."""
    old, new = spot(before.words, language), spot(after.words, language)
    found: dict[FactKind, Moved] = {
        "negation": _between(old["negation"], new["negation"]),
        "price": _between(old["price"], new["price"]),
        "date": _between(old["date"], new["date"]),
        "number": _between(old["number"], new["number"]),
        "name": (
            vanished(names(before.words, language), after.words),
            vanished(names(after.words, language), before.words),
        ),
        "link": _between(before.all_links, after.all_links),
        "image": _between(before.images, after.images),
    }
    return found


def _between(before: tuple[str, ...], after: tuple[str, ...]) -> Moved:
    if before == after:
        return [], []
    gone, come = Counter(before), Counter(after)
    return list((gone - come).elements()), list((come - gone).elements())


def _chips(kind: FactKind, gone: list[str], come: list[str]) -> Iterator[Fact]:
    changed, removed, added = _WORDS[kind]
    if kind in _PAIRED and gone and len(gone) == len(come):
        for old, new in zip(gone[:_LISTED], come[:_LISTED], strict=False):
            yield Fact(kind, str(changed) % {"old": old, "new": new})
        yield from _more(kind, len(gone))
        return
    for words, found in ((removed, gone), (added, come)):
        for what in found[:_LISTED]:
            yield Fact(kind, str(words) % {"what": what})
        yield from _more(kind, len(found))


def _more(kind: FactKind, count: int) -> Iterator[Fact]:
    if count > _LISTED:
        yield Fact(kind, _("and %(count)s more") % {"count": count - _LISTED})


def _length_facts(path: str, before: str, after: str) -> Iterator[Fact]:
    most = _LIMITS.get(path)
    if most is None:
        return
    words = {"old": len(before), "new": len(after), "over": len(after) - most}
    if len(after) > most:
        yield Fact(
            "length",
            _("%(old)s → %(new)s characters, %(over)s more than search results show") % words,
        )
    else:
        yield Fact("length", _("%(old)s → %(new)s characters") % words)


def summary(before: Text, after: Text, language: str = "en") -> str:
    """One sentence: "Shortened by 30 %, 1 link added, 1 number changed." Empty for nothing to say."""
    length = _length_words(before.words, after.words)
    old, new = spot(before.words, language), spot(after.words, language)
    parts = [*([length] if length else []), *_counts(before, after, old, new)]
    text = ", ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""


def _length_words(before: str, after: str) -> str:
    old, new = len(before.split()), len(after.split())
    if not old:
        words = ngettext("new text of %(count)s word", "new text of %(count)s words", new)
        return words % {"count": new} if new else ""
    if not new:
        return _("all text removed")
    share = (new - old) / old
    if abs(share) < _NOTICED:
        return _("reworded, about the same length") if before.split() != after.split() else ""
    if new >= 2 * old:
        words = ngettext(
            "grew from %(old)s word to %(new)s", "grew from %(old)s words to %(new)s", old
        )
        return words % {"old": old, "new": new}
    percent = {"percent": round(abs(share) * 100)}
    return (
        _("lengthened by %(percent)s %%") if share > 0 else _("shortened by %(percent)s %%")
    ) % percent


def _counts(before: Text, after: Text, old: Spotted, new: Spotted) -> Iterator[str]:
    yield from _counted(
        _between(before.all_links, after.all_links),
        lambda n: ngettext("%(count)s link changed", "%(count)s links changed", n),
        lambda n: ngettext("%(count)s link added", "%(count)s links added", n),
        lambda n: ngettext("%(count)s link removed", "%(count)s links removed", n),
    )
    yield from _counted(
        _between(before.images, after.images),
        lambda n: ngettext("%(count)s image changed", "%(count)s images changed", n),
        lambda n: ngettext("%(count)s image added", "%(count)s images added", n),
        lambda n: ngettext("%(count)s image removed", "%(count)s images removed", n),
    )
    yield from _counted(
        _between(_figures(old), _figures(new)),
        lambda n: ngettext("%(count)s number changed", "%(count)s numbers changed", n),
        lambda n: ngettext("%(count)s number added", "%(count)s numbers added", n),
        lambda n: ngettext("%(count)s number removed", "%(count)s numbers removed", n),
    )


def _figures(found: Spotted) -> tuple[str, ...]:
    """Numbers of every kind: the chips say which are prices and dates."""
    return (*found["number"], *found["price"], *found["date"])


Phrase = Callable[[int], str]


def _counted(moved: Moved, changed: Phrase, added: Phrase, removed: Phrase) -> Iterator[str]:
    gone, come = len(moved[0]), len(moved[1])
    both = min(gone, come)
    for count, phrase in ((both, changed), (come - both, added), (gone - both, removed)):
        if count:
            yield phrase(count) % {"count": count}
