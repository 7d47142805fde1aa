"""The search page: published posts of one locale that hold all words, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.utils.translation import gettext

from content.menus.links import PageLocation, alternates
from content.models import Post
from content.search.posts import texts_of
from proofroom.core.site_urls import search_path
from proofroom.definitions import custom_text_of, text_of
from proofroom.definitions.list_urls import list_title
from proofroom.website.feed_links import feeds_of
from proofroom.website.list_queries import found_by, modules_of
from proofroom.website.meta_tags import seo_of_search, with_site
from proofroom.website.page_frame import context_of, surroundings_of
from proofroom.website.rendering import RenderableModule
from proofroom.website.search_snippets import marked, snippet
from proofroom.website.template_language import in_words_of

PER_PAGE: Final = 10
LONGEST: Final = 200
"""Characters of a question; what is beyond is not looked for."""


def search_page(locale: str, asked: str, number: int) -> str | None:
    """A page of what was found; None past the last. Five queries, two where nothing is asked."""
    words = " ".join(asked[: LONGEST * 4].replace("\x00", " ").split())[:LONGEST].strip()
    hits = found_by(words, locale)
    total = hits.count() if words else 0
    last = max(1, -(-total // PER_PAGE))
    if number > last:
        return None
    begin = (number - 1) * PER_PAGE
    posts = list(hits[begin : begin + PER_PAGE]) if total else []
    modules = modules_of(posts) if posts else {}
    around = surroundings_of(PageLocation(search_path(locale), locale))
    with in_words_of(locale):
        named = gettext("Search: %(words)s") % {"words": words} if words else gettext("Search")
        languages = alternates(around.place, {other: search_path(other) for other in around.homes})
        context = context_of(around, [], alternates=languages) | {
            "seo": seo_of_search(with_site(named, around.site_name)),
            "feeds": feeds_of(around),
            "page_title": gettext("Search"),
            "words": words,
            "total": total,
            "results": [_result(post, words, modules) for post in posts],
            "pages": _pages(locale, words, number, last),
        }
        return render_to_string("site/search.html", context)


def _result(
    post: Post, words: str, modules: Mapping[str, Sequence[RenderableModule]]
) -> dict[str, object]:
    texts = [*texts_of(post, "B", "C"), custom_text_of(post.type, post.custom_fields)]
    texts += [text_of(item.type, item.props) for item in modules.get(str(post.pk), ())]
    return {
        "title": marked(post.title, words),
        "url": post.path,
        "kind": list_title(post.type),
        "published_at": post.published_at if post.type == "blog" else None,
        "snippet": snippet("\n".join(filter(None, texts)), words),
    }


def _pages(locale: str, words: str, number: int, last: int) -> dict[str, object]:
    def url(other: int) -> str:
        if not 1 <= other <= last:
            return ""
        asked = {"q": words, **({"page": str(other)} if other > 1 else {})}
        return f"{search_path(locale)}?{urlencode(asked)}"

    return {
        "current": number,
        "last": last,
        "previous_url": url(number - 1),
        "next_url": url(number + 1),
    }
