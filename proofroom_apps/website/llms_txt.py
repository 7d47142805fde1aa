"""`llms.txt` (llmstxt.org): a description of the site, and links to its pages as Markdown."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext

from content.models import Post
from content.store.post_queries import published_posts
from proofroom.core.caching.content_tags import ANY_TYPE, depend_on, tag_of_list
from proofroom.core.site_urls import PageLocation, absolute, home_path
from proofroom.definitions import post_types
from proofroom.definitions.listings import feed_path, list_path, list_title
from proofroom.definitions.markdown_values import heading, paragraphs, written
from proofroom_apps.website.http_cache import RenderedPage
from proofroom_apps.website.markdown_pages import link_line
from proofroom_apps.website.meta_tags import first_words, one_line, robots_of
from proofroom_apps.website.page_frame import load_surroundings, use_template_language

MAX_PAGES: Final = 200
"""Maximum number of posts of a type. The type's list page, also as Markdown, has the others."""


def render_llms_txt(locale: str) -> RenderedPage | None:
    """Return the file, or None if nothing is published in the locale. Two queries, plus one for each post type."""
    around = load_surroundings(PageLocation(home_path(locale), locale))
    depend_on(tag_of_list(ANY_TYPE))
    found = {type.name: _posts(type.name, locale) for type in post_types}
    if not any(found.values()):
        return None
    home = [post for posts in found.values() for post in posts if post.path == home_path(locale)]
    with use_template_language(locale):
        parts = [written([heading(around.site_name, 1)])]
        for post in home[:1]:
            said = one_line(post.meta_description or post.excerpt)
            parts.append(f"> {written(list(paragraphs(said))).strip()}" if said else "")
        for name, posts in found.items():
            if not posts:
                continue
            lines = [
                link_line(post.title, post.path, post.meta_description or first_words(post.excerpt))
                for post in posts
            ]
            if list_path(name, locale):
                lines.append(link_line(gettext("All of them"), list_path(name, locale)))
            head = written([heading(list_title(name), 2)]).strip()
            parts.append(f"{head}\n\n" + "\n".join(lines))
        # "Optional" is defined by llmstxt.org: readers with little context skip this section.
        types = [name for name, posts in found.items() if posts]
        feeds = [(list_title(type), feed_path(type, locale)) for type in types]
        lines = [f"- [RSS: {title}]({absolute(path)})" for title, path in feeds if path]
        lines.append(f"- [Sitemap]({absolute('/sitemap.xml')})")
        parts.append("## Optional\n\n" + "\n".join(lines))
    return RenderedPage("\n\n".join(part.strip() for part in parts if part.strip()) + "\n")


def _posts(type: str, locale: str) -> list[Post]:
    """Return the posts that search engines may index. Posts of a tree are sorted by address."""
    newest = published_posts().filter(type=type, locale=locale).order_by("-published_at", "id")
    posts = [post for post in newest[:MAX_PAGES] if "noindex" not in robots_of(post.robots_json)]
    definition = post_types.get(type)
    is_tree = definition is not None and definition.hierarchical
    return sorted(posts, key=lambda post: post.path) if is_tree else posts
