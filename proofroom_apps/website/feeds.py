"""RSS 2.0 of the newest posts of a type in a locale (rssboard.org/rss-specification)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from html import escape
from typing import Final

from content.models import Post
from proofroom.core.caching.content_memo import memoize_by_content
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.site_urls import PageLocation, absolute
from proofroom.definitions.listings import IndexPage, feed_path, list_title
from proofroom_apps.website.http_cache import RenderedPage
from proofroom_apps.website.meta_tags import description_of, one_line, title_with_site
from proofroom_apps.website.page_frame import load_surroundings, use_template_language
from proofroom_apps.website.queries import PostSummary, load_listed_posts, modules_of

FEED_ITEMS: Final = 20
_ATOM: Final = "http://www.w3.org/2005/Atom"
_DUBLIN_CORE: Final = "http://purl.org/dc/elements/1.1/"
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TO_CHANGE: Final = re.compile(f"{_NOT_XML.pattern}|[&<>\"']").search


def render_feed(index: IndexPage, state: LiveState | None = None) -> RenderedPage | None:
    """Return the feed, or None if nothing is published. At most two queries, plus the site's frame."""
    listed = load_listed_posts(index, 0, FEED_ITEMS)
    if not listed.rows:
        return None
    around = load_surroundings(PageLocation(index.path, index.locale), state=state)
    contents = {"index": index, "listed": listed.content, "site_name": around.site_name}
    return memoize_by_content(
        render_feed,
        contents,
        lambda: _render(index, listed.posts, around.site_name),
        text_of=lambda page: page.text,
    )


def _render(index: IndexPage, posts: Sequence[PostSummary], site_name: str) -> RenderedPage:
    said = {post.id: authored_description(post) for post in posts}
    words = _first_words_of([id_ for id_, text in said.items() if not text])
    with use_template_language(index.locale):
        title = _text(title_with_site(list_title(index.type), site_name))
    items = "".join(
        f"<item><title>{_text(post.title)}</title><link>{_text(absolute(post.path))}</link>"
        f"<description>{_text(said[post.id] or words[post.id])}</description>"
        f"{_date('pubDate', post.published_at)}{_creator(post.byline)}"
        f'<guid isPermaLink="false">urn:uuid:{post.id}</guid></item>'
        for post in posts
    )
    own = _text(absolute(feed_path(index.type, index.locale)))
    changed = max(time for post in posts for time in (post.updated_at, post.published_at) if time)
    return RenderedPage(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<rss version="2.0" xmlns:atom="{_ATOM}" xmlns:dc="{_DUBLIN_CORE}"><channel><title>{title}</title>'
        f"<link>{_text(absolute(index.path))}</link><description>{title}</description>"
        f'<atom:link href="{own}" rel="self"/>'
        f"<language>{_text(index.locale)}</language>{_date('lastBuildDate', changed)}"
        f"{items}</channel></rss>"
    )


def authored_description(post: PostSummary) -> str:
    """Return the authors' description of a post: the meta description, else the excerpt."""
    return one_line(post.meta_description) or one_line(post.excerpt)


def _first_words_of(ids: list[str]) -> dict[str, str]:
    """Return the first words of posts without a description, by id. Two queries, none without ids."""
    if not ids:
        return {}
    posts = list(Post.objects.filter(pk__in=ids))
    found = modules_of(posts)
    return {str(post.pk): description_of(post, found.get(str(post.pk), [])) for post in posts}


def _date(name: str, moment: datetime | None) -> str:
    return f"<{name}>{_written(moment)}</{name}>" if moment is not None else ""


def _creator(byline: str) -> str:
    # The element `author` of RSS requires an email address.
    return f"<dc:creator>{_text(byline)}</dc:creator>" if byline else ""


@lru_cache(maxsize=2000)
def _written(moment: datetime) -> str:
    return format_datetime(moment)


def _text(text: str) -> str:
    """Escape a text for XML, without the characters that XML forbids."""
    return escape(_NOT_XML.sub("", text)) if _TO_CHANGE(text) else text
