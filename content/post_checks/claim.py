"""The check `claim`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.words.word_tables import word_table
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck

_MOST_NAMED: Final = 3
_FIGURE: Final = re.compile(
    # 42 %, 3.5 percent, 9 out of 10, 9 von 10, 3x, 3 times as, dreimal so, 2 million
    r"(?<![\w.,])\d+(?:[.,]\d+)*\s?(?:%|percent\b|per cent\b|Prozent\b)"
    r"|(?<![\w.,])\d+\s(?:out of|von)\s\d+(?![\w.,]*\d)"
    r"|(?<![\w.,])\d+(?:[.,]\d+)?\s?(?:times|x|-?mal)\s(?:more|faster|as|mehr|schneller|so)\b"
    r"|(?<![\w.,])\d+(?:[.,]\d+)*\s(?:million|billion|Millionen|Million|Milliarden|Milliarde|Mio\.|Mrd\.)(?!\w)",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(
    r"\b(?:source|sources|according to|Quelle|Quellen|laut|gemäß|zufolge)\b|\[\d{1,3}\]|[¹²³†]|\bdoi:",
    re.IGNORECASE,
)


class Claim(PostCheck):
    """Figures, superlatives and appeals to studies have a link or a named source in the same module.

    The words come from the word tables (`claims`), to which a site adds its own.
    """

    name = "claim"
    label = gettext_lazy("Claims")
    advice = gettext_lazy("Link to the source, name it in the text, or write less than that.")
    passed = gettext_lazy("All claims have a source.")
    judges_values = True
    order = 110

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        sourced: set[str] = set()
        claims: dict[str, dict[str, None]] = defaultdict(dict)
        for link in subject.contents.links:
            sourced.add(_place_of(link.path))
        for part in subject.contents.texts:
            # Titles and meta data repeat what the modules say, with its sources.
            if not part.path.startswith("modules."):
                continue
            if _SOURCE.search(part.text):
                sourced.add(_place_of(part.path))
            elif part.is_prose:
                claims[part.path].update(dict.fromkeys(find_claims(part.text, subject.locale)))
        for path, found in claims.items():
            if found and _place_of(path) not in sourced:
                named = ", ".join(f"“{text}”" for text in list(found)[:_MOST_NAMED])
                message = _("No source is given for %(claims)s.") % {"claims": named}
                yield Failure(message, path, next(iter(found)))


def find_claims(text: str, language: str) -> Iterator[str]:
    """Yield the figures, superlatives and other claims in a text, as written."""
    yield from (match[0] for match in _FIGURE.finditer(text))
    table = word_table(language)
    words = table.words_of(text)
    for term in table.claims.find(words):
        if not any(word[0].isdigit() for word in words[term.start : term.stop]):
            yield " ".join(words[term.start : term.stop])


@lru_cache(maxsize=1024)
def _place_of(path: str) -> str:
    """Return the module of a path."""
    return ".".join(path.split(".")[:2])
