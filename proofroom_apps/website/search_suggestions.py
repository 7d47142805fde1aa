"""Suggestions for a search without results: words of published posts.

Collected words only lead to posts. A suggestion must be in the text of a post that is published in the locale now, so
that words of drafts, other locales or unpublished posts are never shown.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from content.store.search_words import allowed_distance, distance_between, find_near_words
from proofroom.core.search import Word, words_beginning
from proofroom_apps.website.meta_tags import one_line
from proofroom_apps.website.queries import FoundText, load_found_posts, search_published_posts

MAX_WORDS: Final = 6
"""Maximum number of words of a query with suggestions."""
_POSTS: Final = 5
_READ: Final = 40_000
Spelled = tuple[int, str]
"""Distance of a word from the searched one, and its spelling in a post."""


def suggest_words(asked: Sequence[Word], locale: str) -> str:
    """Return the query with unknown words replaced; empty without suggestions.

    One query for near words. If there are some, three more, or only two if no post has all words.
    """
    if not 0 < len(asked) <= MAX_WORDS:
        return ""
    near = find_near_words(
        (word.folded for word in asked if not any(map(str.isdigit, word.folded))), locale
    )
    unknown = {
        word.folded: near[word.folded]
        for place, word in enumerate(asked)
        if word.folded in near and not _is_known(word, near, is_last=place == len(asked) - 1)
    }
    if not unknown:
        return ""
    wanted = [_or_near(word, unknown.get(word.folded, ())) for word in asked]
    keys = search_published_posts(wanted, locale).page(0, _POSTS)
    found = [spelled for post in load_found_posts(keys) if (spelled := _spelled_in(post, unknown))]
    if not found:
        return ""
    best = min(found, key=lambda spelled: sum(distance for distance, _ in spelled.values()))
    return " ".join(best[word.folded][1] if word.folded in best else word.spelled for word in asked)


def _is_known(word: Word, near: Mapping[str, Sequence[str]], *, is_last: bool) -> bool:
    found = near[word.folded]
    return word.folded in found or (is_last and any(one.startswith(word.folded) for one in found))


def _or_near(word: Word, near: Sequence[str]) -> Word:
    return Word(near[0], near[0], tuple(near[1:])) if near else word


def _spelled_in(post: FoundText, unknown: Mapping[str, Sequence[str]]) -> dict[str, Spelled]:
    """Return the post's spelling for each unknown word; empty unless it has one for all."""
    found: dict[str, Spelled] = {}
    beginnings = {one for near in unknown.values() for one in near}
    size = 0
    for text in (post.post.title, *post.texts):
        # Bounded like the search in a result, so that long posts take no longer.
        text = unicodedata.normalize("NFC", one_line(text[: _READ - size]))
        size += len(text)
        for begin, end, word in words_beginning(text, beginnings):
            for asked, near in unknown.items():
                distance = distance_between(asked, word)
                is_near = distance <= allowed_distance(asked) and word.startswith(tuple(near))
                if is_near and (asked not in found or distance < found[asked][0]):
                    found[asked] = distance, text[begin:end].lower()
    return found if len(found) == len(unknown) else {}
