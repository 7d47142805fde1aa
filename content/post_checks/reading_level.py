"""The check `readingLevel`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.words.reading_level import reading_ease
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck
from proofroom.definitions import post_types

USUAL_TARGET: Final = 30.0
"""Flesch calls texts below 30 "very difficult"."""
TARGETS: Final = {"A1": 90.0, "A2": 80.0, "B1": 60.0, "B2": 50.0, "C1": 30.0, "C2": 0.0}
"""Lowest reading ease by level of the Common European Framework, which defines no formula: the steps come from
Flesch's table, from "very easy" (90) over "standard" (60) to "difficult" (30).
"""
READER_AGES: Final = ((11, 90.0), (12, 80.0), (13, 70.0), (15, 60.0), (18, 50.0))
"""Lowest reading ease up to an age, by Flesch's table of school grades. Texts for older readers may be difficult."""
_LEVEL: Final = re.compile(r"(?<!\w)[ABC][12](?!\w)")
_EASE: Final = re.compile(
    r"\b(?:Flesch|Amstad|ease|Lesbarkeit)\b\D{0,30}(100|\d{1,2})(?!\w|\s?%|[.,]\d)", re.IGNORECASE
)
# Numbers within a sentence mean something else: "at most 15 words a sentence".
_EASE_ALONE: Final = re.compile(r"\s*(100|\d{1,2})\s*\Z")
_AGE: Final = re.compile(
    r"(?:\bage[sd]?|\balter(?: von)?)(?: of)?\s(\d{1,2})(?!\w|[.,]\d)"
    r"|(?<![\w.,])(\d{1,2})[\s-]?(?:year|jahr|jähr)",
    re.IGNORECASE,
)


class ReadingLevel(PostCheck):
    """The texts are as easy to read as the brief, the post type or the usual target asks.

    The formulas are by Flesch (1948) for English and Amstad (1978) for German, see
    `content.comparison.words.reading_level`. Texts of fewer than 40 words are not judged.
    """

    name = "readingLevel"
    label = gettext_lazy("Reading level")
    advice = gettext_lazy("Shorten long sentences, and replace long words.")
    passed = gettext_lazy("The text is easy enough to read.")
    not_judged = gettext_lazy("The text is too short, or its language has no formula.")
    order = 60

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        return _ease_of(subject) is not None

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        ease, target = _ease_of(subject), target_of(subject)
        if ease is not None and ease < target:
            message = _("The reading ease is %(ease)s of 100. At least %(target)s is expected.")
            values = {"ease": round(ease), "target": round(target)}
            yield Failure(message % values, "", f"{ease:g}")


def target_of(subject: CheckSubject) -> float:
    """Return the lowest accepted reading ease: of the brief, of the post type, or the usual one."""
    written = read_target(subject.brief.reading_level)
    if written is not None:
        return written
    definition = post_types.get(subject.document.type)
    own = definition.reading_ease if definition is not None else None
    return USUAL_TARGET if own is None else own


def read_target(text: str) -> float | None:
    """Return the reading ease that a brief names, such as "B1", "age 12" or "Flesch 60"; None if it names none."""
    if level := _LEVEL.search(text):
        return TARGETS[level[0]]
    if age := _AGE.search(text):
        years = int(age[1] or age[2])
        return next((ease for most, ease in READER_AGES if years <= most), USUAL_TARGET)
    ease = _EASE_ALONE.match(text) or _EASE.search(text)
    return float(ease[1]) if ease else None


def _ease_of(subject: CheckSubject) -> float | None:
    texts = (part.text for part in subject.contents.texts if part.is_prose)
    return reading_ease("\n".join(texts), subject.locale)
