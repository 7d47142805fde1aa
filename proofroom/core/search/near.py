"""Near matches for a query that found nothing: texts with words that are spelled similarly."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, TypeVar

from proofroom.core.search.words import query_words, word_positions

MAX_NEAR: Final = 3
MAX_NEAR_CANDIDATES: Final = 2_000
"""Number of texts that callers should offer at most: comparing takes some milliseconds per thousand."""
_SIMILARITY: Final = 0.75
_MAX_WORDS: Final = 8
K = TypeVar("K")


def near_matches(query: str, texts: Iterable[tuple[K, str]]) -> list[K]:
    """Return the keys of texts that have a similar word for every word of the query, at most `MAX_NEAR`.

    Texts with the most equal words come first, otherwise they stay in their order.
    """
    words = list(dict.fromkeys(word.folded for word in query_words(query)))[:_MAX_WORDS]
    if not words:
        return []
    contents = [(key, {word for _start, _end, word in word_positions(text)}) for key, text in texts]
    vocabulary = sorted(set().union(*(known for _key, known in contents)))
    similar = {word: set(get_close_matches(word, vocabulary, 20, _SIMILARITY)) for word in words}
    found = [
        (sum(word in known for word in words), key)
        for key, known in contents
        if all(similar[word] & known for word in words)
    ]
    found.sort(key=lambda one: one[0], reverse=True)
    return [key for _equal, key in found[:MAX_NEAR]]
