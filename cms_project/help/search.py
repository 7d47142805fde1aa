"""The search of the help: sections that contain all words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cms_project.help.pages import HelpPage, help_anchors, sections

MAX_RESULTS: Final = 30
MAX_QUERY_LENGTH: Final = 200
_EXCERPT_LENGTH: Final = 180


@dataclass(frozen=True, slots=True)
class HelpResult:
    page: HelpPage
    title: str
    """The heading of the section."""
    anchor: str
    excerpt: list[tuple[str, bool]]
    """Pieces of the text, and whether each is a word of the query."""

    @property
    def is_whole_page(self) -> bool:
        return self.title == self.page.title


def search(found: Iterable[HelpPage], query: str) -> list[HelpResult]:
    """Return the sections with all words of the query.

    Pages for editors come first, and in both kinds of pages headings in which the words begin a word.
    """
    words = query.lower().split()
    if not words:
        return []
    ranked: list[tuple[bool, bool, HelpResult]] = []
    for page in found:
        for section, anchor in zip(sections(page.path), help_anchors(page), strict=True):
            heading = f"{page.title} {section.title}".lower()
            if all(word in heading or word in section.text.lower() for word in words):
                is_named = all(
                    re.search(rf"\b{re.escape(word)}", section.title.lower()) for word in words
                )
                result = HelpResult(page, section.title, anchor, _excerpt(section.text, words))
                ranked.append((not page.is_for_editors, not is_named, result))
    # The sort is stable: results of the same rank stay in the order of the navigation.
    return [result for *_, result in sorted(ranked, key=lambda one: one[:2])][:MAX_RESULTS]


def _excerpt(text: str, words: list[str]) -> list[tuple[str, bool]]:
    """Return the text around the first word of the query, with the words marked."""
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - _EXCERPT_LENGTH // 3) if first else 0
    # Begin and end at spaces, so that no word is cut.
    start = text.rfind(" ", 0, start) + 1 if start else 0
    end = len(text)
    if end > start + _EXCERPT_LENGTH:
        end = max(text.rfind(" ", start, start + _EXCERPT_LENGTH), start + 1)
    shown = f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
    pieces, last = [], 0
    for match in pattern.finditer(shown):
        pieces += [(shown[last : match.start()], False), (match[0], True)]
        last = match.end()
    return [piece for piece in [*pieces, (shown[last:], False)] if piece[0]]
