"""Renders modules to HTML. It sends no queries: the data of a page is loaded before and passed in.

The context of a page, all keys optional: `media` ({id: {url, alt, width, height, srcset}}), `posts` ({id: PostCard}),
`lists` ({PostList: [PostCard]}), the names of `module_sources` (`forms`), `breadcrumb`, `page_title`, `page_path`,
`locale`, `is_preview`, `submission` (result of a submitted form). A module's template gets these, `props` (complete),
`module` (a `RenderableModule`), `is_opening` (True if it shows the page's `h1`), and the names that
`template_context` adds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from media.presenters import SiteImage
from media.services.references import storage_name
from proofroom.core.caching.content_memo import note_failure
from proofroom.core.database.errors import is_database_unreachable
from proofroom.core.json import Json
from proofroom.definitions import Module, modules
from proofroom.definitions.richtext.html import PageTexts, TextImage

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RenderableModule:
    """A module to show. `props` include the overrides of its post."""

    post_module_id: str
    type: str
    props: Mapping[str, Json]
    index: int
    instance_id: str = ""
    global_slug: str = ""


def full_props(definition: type[Module], item: RenderableModule) -> dict[str, Json]:
    """Return the props with defaults for fields that were added to the definition later."""
    return {**definition.default_props(), **item.props}


def shows_breadcrumb(items: Sequence[RenderableModule]) -> bool:
    """Return whether a module shows the breadcrumb, so that the page must not."""
    return any(definition.shows_breadcrumb for definition in _definitions(items))


def opens_with_heading(items: Sequence[RenderableModule]) -> bool:
    """Return whether the first module shows the page's `h1`, so that the page must not."""
    definition = modules.get(items[0].type) if items else None
    return definition is not None and definition.opens_page


def stylesheets_of(items: Sequence[RenderableModule]) -> list[str]:
    """Return the modules' own stylesheets, each once, in page order."""
    named = [definition.stylesheet for definition in _definitions(items)]
    return list(dict.fromkeys(name for name in named if name))


def _definitions(items: Sequence[RenderableModule]) -> list[type[Module]]:
    known = modules.all()
    return [known[item.type] for item in items if item.type in known]


def render_modules(items: Sequence[RenderableModule], context: Mapping[str, object]) -> SafeString:
    """Render the modules in the given order. Unknown types and failing modules are left out and logged."""
    has_heading = opens_with_heading(items)
    # `main` is the page's own id. Each module adds the ids of its headings.
    media = context.get("media")
    heading_ids = (
        PageTexts({"main"}, replace_own_images(media)) if isinstance(media, Mapping) else {"main"}
    )
    names = {
        "media": {}, "posts": {}, "lists": {}, "page_title": "", **context, "heading_ids": heading_ids,
    }  # fmt: skip
    rendered = [
        _render(item, names, is_opening=has_heading and place == 0)
        for place, item in enumerate(items)
    ]
    return mark_safe("\n".join(html for html in rendered if html.strip()))  # noqa: S308  # as above


def _render(item: RenderableModule, page: Mapping[str, object], *, is_opening: bool) -> SafeString:
    definition = modules.get(item.type)
    if definition is None:
        note_failure()
        logger.warning("module %s has the unknown type %r", item.post_module_id, item.type)
        return mark_safe("")
    try:
        body = _body(definition, item, page, is_opening=is_opening)
    # A site's template may raise anything; one broken module must not break the page.
    except Exception as error:
        if is_database_unreachable(error):
            raise
        note_failure()
        logger.exception("module %s (%s) failed to render", item.post_module_id, item.type)
        # If the opening module fails, the page still needs its h1.
        title = page["page_title"] if is_opening else None
        return format_html("<h1>{}</h1>", title) if title else mark_safe("")
    if not body.strip():
        return body
    id_, instance = escape(item.post_module_id), escape(item.instance_id)
    named = f' data-module-instance-id="{instance}"' if instance else ""
    return mark_safe(  # noqa: S308  # the body is what a template made, the rest is escaped
        f'<div class="module module-{escape(item.type)}" id="module-{id_}"'
        f' data-post-module-id="{id_}"{named}>\n{body}\n</div>'
    )


def _body(
    definition: type[Module],
    item: RenderableModule,
    page: Mapping[str, object],
    *,
    is_opening: bool,
) -> SafeString:
    props = full_props(definition, item)
    names = {**page, "props": props, "module": item, "is_opening": is_opening}
    more = definition.template_context(props, names)
    return render_to_string(definition.template(), {**names, **more})


def replace_own_images(media: Mapping[str, SiteImage]) -> Callable[[str], TextImage | None]:
    """Return a function that maps an address in text to our image, to a missing one, or to None if it is not ours."""

    def image_at(address: str) -> TextImage | None:
        name = storage_name(address)
        if name is None:
            return None
        image = media.get(name)
        if image is None:
            return TextImage()
        return TextImage(
            url=image["url"],
            alt=image["alt"],
            width=image["width"],
            height=image["height"],
            srcset=image["srcset"],
            sizes=image["sizes"],
            dark_srcset=image["dark_srcset"],
        )

    return image_at
