"""Pages as Markdown, for programs: front matter, the title, and the content of modules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext

from media.presenters import SiteImage
from proofroom.core.caching.content_memo import memoize_by_content
from proofroom.core.caching.content_tags import depend_on, tag_of_post
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.json import format_time
from proofroom.core.site_urls import absolute, markdown_path
from proofroom.definitions import markdown_of, post_types, props_of
from proofroom.definitions.listings import IndexPage
from proofroom.definitions.markdown_values import heading, link, paragraphs, rich_text, written
from proofroom.definitions.richtext.nodes import Node
from proofroom_apps.website import queries
from proofroom_apps.website.http_cache import RenderedPage
from proofroom_apps.website.list_pages import load_list_page
from proofroom_apps.website.meta_tags import (
    byline_of,
    canonical_of,
    description_of,
    one_line,
    robots_of,
)
from proofroom_apps.website.page_frame import use_template_language
from proofroom_apps.website.prefetch import needs_of
from proofroom_apps.website.queries import images
from proofroom_apps.website.rendering import opens_with_heading

_OPENING: Final = 1
_BELOW: Final = 2


def render_post_markdown(found: queries.FoundPost) -> RenderedPage:
    """Return the page of a post, from the cache if its content is the same.

    One query for its files, if it has any.
    """
    depend_on(tag_of_post(found.post.pk))
    media = images(needs_of(found).media, found.post.locale)
    return memoize_by_content(
        render_post_markdown,
        {"content": found.content, "media": media},
        lambda: _render(found, media),
        text_of=lambda page: page.text,
    )


def _render(found: queries.FoundPost, media: Mapping[str, SiteImage]) -> RenderedPage:
    post, items = found.post, found.modules
    canonical = canonical_of(post)
    head = front_matter(
        {
            "title": post.title,
            "description": description_of(post, items),
            "canonical": canonical,
            "locale": post.locale,
            "author": byline_of(post, found.author_names),
            "published": format_time(post.published_at),
            "updated": format_time(post.updated_at),
        }
    )
    # Custom fields with text, each below its label.
    definition = post_types.get(post.type)
    nodes: list[Node] = []
    for prop in props_of(definition.CustomFields).values() if definition else ():
        value = post.custom_fields.get(prop.name)
        if prop.kind == "richtext":
            nodes += rich_text(value)
        elif prop.kind in {"text", "textarea", "number", "date"} and value not in (None, ""):
            nodes += paragraphs(f"{prop.label}: {value}")
        elif prop.kind == "url":
            nodes += link(value, value)
    # Omit title and excerpt if the first module shows them, as in HTML.
    has_opening = opens_with_heading(items)
    parts = []
    if not (has_opening and items[0].props.get("title")):
        parts.append(written([heading(post.title, _OPENING)]))
        if not has_opening:
            parts.append(written(list(paragraphs(post.excerpt))))
    parts.append(written(nodes))
    for item in items:
        is_first = item.index == 0 and has_opening
        level = _OPENING if is_first else _BELOW
        parts.append(markdown_of(item.type, item.props, media, level=level))
    # A canonical address on another site may contain non-ASCII characters.
    headers = {"Link": f'<{iri_to_uri(canonical)}>; rel="canonical"'}
    robots = robots_of(post.robots_json)
    return _body(head, parts, {**headers, "X-Robots-Tag": robots} if robots else headers)


def list_in_markdown(
    listing: IndexPage, number: int, state: LiveState | None = None
) -> RenderedPage | None:
    """Return a page of a listing, or None if it does not exist. As many queries as its HTML."""
    part = load_list_page(listing, number, state)
    if part is None:
        return None
    with use_template_language(listing.locale):
        canonical = absolute(part.url(number))
        head = front_matter(
            {
                "title": part.full_title,
                "description": part.description,
                "canonical": canonical,
                "locale": listing.locale,
            }
        )
        entries = [link_line(post.title, post.path, post.excerpt) for post in part.listed.posts]
        opening = [heading(part.full_title, _OPENING), *paragraphs(part.intro)]
        parts = [written(opening), "\n".join(entries)]
        if part.url(number + 1):
            older = f"{absolute(markdown_path(listing.path))}?page={number + 1}"
            parts.append(written(list(link(gettext("Older"), older))))
        return _body(head, parts, {"Link": f'<{canonical}>; rel="canonical"'})


def front_matter(values: Mapping[str, str | None]) -> str:
    """Return YAML front matter. Values are written as JSON, which is valid YAML for any text."""
    lines = [f"{name}: {json.dumps(v, ensure_ascii=False)}" for name, v in values.items() if v]
    return "\n".join(["---", *lines, "---"])


def link_line(title: str, path: str, notes: str = "") -> str:
    """Return a list item that links to a page's Markdown, in the format of llmstxt.org."""
    named = written(list(link(title, absolute(markdown_path(path))))).strip()
    said = written(list(paragraphs(one_line(notes)))).strip()
    return f"- {named}: {said}" if said else f"- {named}"


def _body(head: str, parts: list[str], headers: Mapping[str, str]) -> RenderedPage:
    shown = [part.strip() for part in parts if part.strip()]
    return RenderedPage("\n\n".join([head, *shown]) + "\n", headers)
