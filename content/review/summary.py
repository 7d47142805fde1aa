"""Sums up the changes of a text in a sentence: how much longer it is, and how many things in it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.changes import Value
from content.post_fields import POST_FIELDS
from content.review.differences import Action, Comparison

Phrase = Callable[[int], str]
_NOTICED: Final = 0.1
"""A share of words below which a change of length is not worth a sentence."""
_NUMBERS: Final = frozenset({"number", "price", "date"})


def summarize(comparison: Comparison) -> str:
    """One sentence: "Shortened by 30 %, 1 link added, 1 number changed." Empty for nothing to say."""
    length = _length_words(comparison.words_before, comparison.words_after, comparison)
    parts = [*([length] if length else []), *_counts(comparison)]
    text = ", ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""


def length_note(path: str, before: Value, after: Value) -> str:
    """Return how long a text is that search engines cut off; empty for any other."""
    declared = POST_FIELDS.get(path.removeprefix("post."))
    most = declared.advised_length if declared and path.startswith("post.") else None
    if most is None:
        return ""
    old, new = (len(value) if isinstance(value, str) else 0 for value in (before, after))
    words = {"old": old, "new": new, "over": new - most}
    if new > most:
        return _("%(old)s → %(new)s characters, %(over)s more than search results show") % words
    return _("%(old)s → %(new)s characters") % words


def _length_words(old: int, new: int, comparison: Comparison) -> str:
    if not old:
        words = ngettext("new text of %(count)s word", "new text of %(count)s words", new)
        return words % {"count": new} if new else ""
    if not new:
        return _("all text removed")
    share = (new - old) / old
    if abs(share) < _NOTICED:
        is_reworded = any(one.kind == "text" for one in comparison.differences)
        return _("reworded, about the same length") if is_reworded else ""
    if new >= 2 * old:
        words = ngettext(
            "grew from %(old)s word to %(new)s", "grew from %(old)s words to %(new)s", old
        )
        return words % {"old": old, "new": new}
    percent = {"percent": round(abs(share) * 100)}
    return (
        _("lengthened by %(percent)s %%") if share > 0 else _("shortened by %(percent)s %%")
    ) % percent


def _counts(comparison: Comparison) -> list[str]:
    counts: Counter[tuple[str, Action]] = Counter()
    for one in comparison.differences:
        kind = "number" if one.kind in _NUMBERS else one.kind
        counts[kind, one.action] += 1
    phrases: list[tuple[str, Action, Phrase]] = [
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
    return [
        phrase(count) % {"count": count}
        for kind, action, phrase in phrases
        if (count := counts[kind, action])
    ]
