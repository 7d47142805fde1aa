"""The search page: published posts of one locale that contain all words, best match first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.row_counts import RowCount
from proofroom.core.search import Word, query_words, words_beginning
from proofroom.core.site_urls import PageLocation, search_path
from proofroom.definitions.listings import list_title
from proofroom_apps.website.meta_tags import one_line, seo_of_search, title_with_site
from proofroom_apps.website.navigation import alternates
from proofroom_apps.website.page_frame import (
    build_page_context,
    feeds_of,
    load_surroundings,
    page_links,
    use_template_language,
)
from proofroom_apps.website.queries import FoundText, load_found_posts, search_published_posts
from proofroom_apps.website.search_suggestions import suggest_words

_READ: Final = 40_000
"""Maximum number of characters searched in a post, to limit the time of a result page."""
_LENGTH: Final = 220
_BEFORE: Final = 60
_STEM: Final = 4
"""Minimum number of letters for a word to match longer and shorter words with the same beginning."""

Place = tuple[int, int]


def highlight(text: str, asked: Sequence[Word]) -> SafeString:
    """Return the whole text with its matches in `mark` elements."""
    text = unicodedata.normalize("NFC", one_line(text))
    return _with_marks(text, _hits(text, asked))


def make_snippet(text: str, asked: Sequence[Word]) -> SafeString:
    """Return the part of a text with the most matches, else its beginning."""
    text = unicodedata.normalize("NFC", one_line(text[:_READ]))
    hits = _hits(text, asked)
    begin = _best(hits)
    if begin:
        # Begin at a word, but not far before the match: a text may have no spaces.
        begin = max(0, text.rfind(" ", 0, max(0, begin - _BEFORE)) + 1, begin - 2 * _BEFORE)
    end = len(text) if len(text) - begin <= _LENGTH else text.rfind(" ", begin, begin + _LENGTH)
    # rfind() gives -1 without a space: then cut inside the word.
    end = end if end > begin else begin + _LENGTH
    inside = [(left - begin, right - begin) for left, right in hits if begin <= left < right <= end]
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    body = _with_marks(text[begin:end], inside)
    return mark_safe(f"{before}{body}{after}")  # noqa: S308  # it is escaped


def _hits(text: str, asked: Sequence[Word]) -> list[Place]:
    beginnings = {one.folded[:_STEM] for one in asked}
    found = list(words_beginning(text, beginnings))
    meant = {word for word in {word for _, _, word in found} if _is_meant(word, asked)}
    return [(begin, end) for begin, end, word in found if word in meant]


def _is_meant(word: str, asked: Sequence[Word]) -> bool:
    last = len(asked) - 1
    for number, one in enumerate(asked):
        if word == one.folded or (len(word) >= _STEM and one.folded.startswith(word)):
            return True
        # The last word may be unfinished, so it may be short.
        if word.startswith(one.folded) and (number == last or len(one.folded) >= _STEM):
            return True
    return False


def _best(hits: Sequence[Place]) -> int:
    """Return the start of the match followed by the most others within one snippet."""
    best, most, right = 0, 0, 0
    for left, (begin, _) in enumerate(hits):
        while right < len(hits) and hits[right][1] <= begin + _LENGTH - _BEFORE:
            right += 1
        if right - left > most:
            best, most = begin, right - left
    return best


def _with_marks(text: str, hits: Sequence[Place]) -> SafeString:
    pieces = []
    for (_, before), (begin, end) in pairwise([(0, 0), *hits]):
        pieces += [escape(text[before:begin]), f"<mark>{escape(text[begin:end])}</mark>"]
    pieces.append(escape(text[hits[-1][1] if hits else 0 :]))
    return mark_safe("".join(pieces))  # noqa: S308  # every piece is escaped


PER_PAGE: Final = 10
MAX_RESULTS: Final = 1_000
"""Maximum number of results with pages. The count may be an estimate."""
MAX_QUERY_LENGTH: Final = 200
"""Maximum number of characters of a query; the rest is ignored."""


def search_page(locale: str, asked: str, number: int, state: LiveState) -> str | None:
    """Return a page of results, or None past the last. `state` is the content state.

    Three queries, and none for the surroundings if they are cached for the state. SQLite counts a full page in one
    more, as PostgreSQL does for common words. Without results there are at most two, plus those in `suggest_words`.
    An empty query sends none.
    """
    # Cut before splitting, so that the work on a very long query is bounded. PostgreSQL refuses NUL.
    words = " ".join(asked[: MAX_QUERY_LENGTH * 4].replace("\x00", " ").split())[
        :MAX_QUERY_LENGTH
    ].strip()
    begin = (number - 1) * PER_PAGE
    if begin >= MAX_RESULTS:
        return None
    asked_words = query_words(words)
    hits = search_published_posts(asked_words, locale)
    posts = load_found_posts(hits.page(begin, begin + PER_PAGE))
    if not posts and number > 1:
        return None
    # A page that is not full is the last one, so its results need no count.
    total = RowCount(begin + len(posts))
    if len(posts) == PER_PAGE:
        total = hits.estimate(MAX_RESULTS)
    last = max(1, -(-min(total.number, MAX_RESULTS) // PER_PAGE))
    suggestion = suggest_words(asked_words, locale) if words and not posts else ""
    around = load_surroundings(PageLocation(search_path(locale), locale), state=state)

    def url(page: int, words: str = words) -> str:
        query = {"q": words, **({"page": str(page)} if page > 1 else {})}
        return f"{search_path(locale)}?{urlencode(query)}"

    with use_template_language(locale):
        named = gettext("Search: %(words)s") % {"words": words} if words else gettext("Search")
        languages = alternates(around.place, {other: search_path(other) for other in around.homes})
        context = build_page_context(around, [], alternates=languages) | {
            "seo": seo_of_search(title_with_site(named, around.site_name)),
            "feeds": feeds_of(around),
            "page_title": gettext("Search"),
            "words": words,
            "stylesheets": ["cms/site/lists.css"],
            "total": total.number if total.is_exact else _rounded(total.number),
            "is_total_exact": total.is_exact,
            "suggestion": {"words": suggestion, "url": url(1, suggestion)} if suggestion else None,
            "results": [_result(post, asked_words) for post in posts],
            "pages": page_links(number, last, url),
        }
        return render_to_string("site/search.html", context)


def _rounded(number: int) -> int:
    """Round an estimate to two digits, its precision."""
    return round(number, min(0, 2 - len(str(number))))


def _result(found: FoundText, asked: Sequence[Word]) -> dict[str, object]:
    post = found.post
    return {
        "title": highlight(post.title, asked),
        "url": post.path,
        "kind": list_title(post.type),
        "published_at": post.published_at if post.type == "blog" else None,
        "snippet": make_snippet("\n".join(_beginning(found.texts)), asked),
    }


def _beginning(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts that a snippet can come from."""
    size = 0
    for text in filter(None, texts):
        yield text
        size += len(text)
        if size >= _READ:
            return
