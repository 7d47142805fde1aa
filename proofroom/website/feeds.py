"""RSS 2.0 of the newest posts of a type in a locale (rssboard.org/rss-specification)."""

from __future__ import annotations

import re
from typing import Final

from django.utils.feedgenerator import Rss201rev2Feed

from proofroom.core.site_urls import PageLocation, absolute
from proofroom.definitions.listings import IndexPage, feed_path, list_title
from proofroom.website.http_cache import RenderedPage
from proofroom.website.meta_tags import description_of, title_with_site
from proofroom.website.page_frame import load_surroundings, use_template_language
from proofroom.website.queries import list_posts_of, modules_of
from proofroom.website.rendering import RenderableModule

FEED_ITEMS: Final = 20
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_feed(index: IndexPage) -> RenderedPage | None:
    """None where nothing is published. Four queries."""
    posts = list(list_posts_of(index)[:FEED_ITEMS])
    if not posts:
        return None
    around = load_surroundings(PageLocation(index.path, index.locale))
    # The first words of posts whose authors wrote nothing about them, by id. One query, none where all did.
    silent = [post for post in posts if not (post.excerpt or post.meta_description)]
    found: dict[str, list[RenderableModule]] = modules_of(silent) if silent else {}
    words = {str(post.pk): description_of(post, found.get(str(post.pk), [])) for post in silent}
    with use_template_language(index.locale):
        title = title_with_site(list_title(index.type), around.site_name)
    made = Rss201rev2Feed(
        title=_clean(title),
        link=absolute(index.path),
        description=_clean(title),
        language=index.locale,
        feed_url=absolute(feed_path(index.type, index.locale)),
    )
    for post in posts:
        made.add_item(
            title=_clean(post.title),
            link=absolute(post.path),
            description=_clean(words.get(str(post.pk)) or description_of(post, [])),
            unique_id=f"urn:uuid:{post.pk}",
            unique_id_is_permalink=False,
            pubdate=post.published_at,
            updateddate=post.updated_at,
        )
    return RenderedPage(made.writeString("utf-8"))


def _clean(text: str) -> str:
    """Without the characters that no XML document may hold."""
    return _NOT_XML.sub("", text)
