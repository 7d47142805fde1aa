"""Modules to HTML. Nothing here queries: what a page needs is loaded before and passed in.

The context of a page, all keys optional: `media` ({id: {url, alt, width, height, srcset}}), `posts`
({id: PostCard}), `lists` ({PostList: [PostCard]}), what `module_sources` brings (`forms`), `breadcrumb`,
`page_title`, `page_path`, `locale`, `is_preview`, `submission` (what became of a form that was sent). A module's
template sees these, `props` (complete), `module` (a `RenderableModule`), `is_opening` (it shows the page's
`h1`), and what `template_context` adds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from django.template.base import Template
from django.template.context import Context
from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from media.presenters import SiteImage
from media.services.references import storage_name
from proofroom.core.caching.fragments import (
    Fragment,
    FragmentStore,
    FrozenNames,
    FrozenPart,
    WatchedContext,
    note_failure,
    watch_rendering,
)
from proofroom.core.database.faults import is_database_away
from proofroom.core.json import Json
from proofroom.definitions import Module, modules
from proofroom.definitions.richtext.html import PageTexts, TextImage

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RenderableModule:
    """A module as it is to be shown: `props` already merged with the overrides of its post."""

    post_module_id: str
    type: str
    props: Mapping[str, Json]
    index: int
    instance_id: str = ""


def full_props(definition: type[Module], item: RenderableModule) -> dict[str, Json]:
    """Content may be older than its definition: props that came later have their defaults."""
    return {**definition.default_props(), **item.props}


def shows_breadcrumb(items: Sequence[RenderableModule]) -> bool:
    """Return whether a module shows the way to the page, so that the page must not."""
    return any(definition.shows_breadcrumb for definition in _definitions(items))


def opens_with_heading(items: Sequence[RenderableModule]) -> bool:
    """Return whether the first module shows the page's `h1`, so that the page must not."""
    definition = modules.get(items[0].type) if items else None
    return definition is not None and definition.opens_page


def stylesheets_of(items: Sequence[RenderableModule]) -> list[str]:
    """Return what the modules need beside the site's own stylesheet: each file once, in the order of the page."""
    named = [definition.stylesheet for definition in _definitions(items)]
    return list(dict.fromkeys(name for name in named if name))


def _definitions(items: Sequence[RenderableModule]) -> list[type[Module]]:
    known = modules.all()
    return [known[item.type] for item in items if item.type in known]


def render_modules(
    items: Sequence[RenderableModule],
    context: Mapping[str, object],
    *,
    store: FragmentStore | None = None,
) -> SafeString:
    """The modules in the given order. Unknown types and failing modules are left out, and logged.

    With a `store`, what was rendered of the same contents is taken from there.
    """
    has_heading = opens_with_heading(items)
    # The page's own id is taken, and every module adds those of its headings.
    media = context.get("media")
    texts = (
        PageTexts({"main"}, replace_own_images(media)) if isinstance(media, Mapping) else {"main"}
    )
    names = {"media": {}, "posts": {}, "lists": {}, "page_title": "", **context}
    page = _ModuleContext(names, texts, FrozenNames(names), store)
    rendered = [
        _render(item, page, is_opening=has_heading and place == 0)
        for place, item in enumerate(items)
    ]
    return mark_safe("\n".join(html for html in rendered if html.strip()))  # noqa: S308  # likewise


@dataclass(slots=True)
class _ModuleContext:
    """What the modules of a page share: the names of their templates, and the ids of their headings so far."""

    names: Mapping[str, object]
    heading_ids: set[str]
    frozen: FrozenNames
    store: FragmentStore | None


class _FrozenModule(FrozenPart):
    """What a module's template may look at, as it is before the module is rendered."""

    def __init__(self, item: RenderableModule, page: _ModuleContext, *, is_opening: bool) -> None:
        own = {
            # Its defaults come from its definition.
            "props": item.props,
            "module": [item.post_module_id, item.instance_id, item.type, item.index],
            "is_opening": is_opening,
            "heading_ids": sorted(page.heading_ids),
        }
        super().__init__(own, page.frozen)

    def value_of(self, name: str) -> object:
        found = super().value_of(name)
        # The images of its texts are looked up in the media.
        return [self.page.value_of("media"), found] if name == "heading_ids" else found


def _render(item: RenderableModule, page: _ModuleContext, *, is_opening: bool) -> SafeString:
    definition = modules.get(item.type)
    if definition is None:
        note_failure()
        logger.warning("module %s has the unknown type %r", item.post_module_id, item.type)
        return mark_safe("")
    try:
        body = _body(definition, item, page, is_opening=is_opening)
    # One broken module must not take the page with it, whatever a customer's template raises.
    except Exception as error:
        if is_database_away(error):
            raise
        note_failure()
        logger.exception("module %s (%s) failed to render", item.post_module_id, item.type)
        # The page keeps its heading when the module that should have shown it fails.
        title = page.names["page_title"] if is_opening else None
        return format_html("<h1>{}</h1>", title) if title else mark_safe("")
    if not body.strip():
        return body
    id_, instance = escape(item.post_module_id), escape(item.instance_id)
    named = f' data-module-instance-id="{instance}"' if instance else ""
    return mark_safe(  # noqa: S308  # the body is what a template made, the rest is escaped
        f'<div class="module module-{escape(item.type)}" id="module-{id_}"'
        f' data-post-module-id="{id_}"{named}>\n{body}\n</div>'
    )


def _template_of(definition: type[Module]) -> Template:
    template: Template = cast(Any, get_template(definition.template())).template
    return template


def _body(
    definition: type[Module], item: RenderableModule, page: _ModuleContext, *, is_opening: bool
) -> SafeString:
    """What the template of a module makes, or made of the same contents before."""
    template = _template_of(definition)
    part = (definition, template)
    frozen = _FrozenModule(item, page, is_opening=is_opening)
    kept = page.store.find(part, frozen) if page.store is not None else None
    if kept is not None:
        page.heading_ids.update(kept.heading_ids)
        return SafeString(kept.text)
    ids_before = frozenset(page.heading_ids)
    props = full_props(definition, item)
    names = {
        **page.names,
        "heading_ids": page.heading_ids,
        "props": props,
        "module": item,
        "is_opening": is_opening,
    }
    given = WatchedContext(names)
    with watch_rendering() as rendering:
        more = definition.template_context(props, given)
        shown = WatchedContext({**names, **more})
        body = SafeString(template.render(Context(shown)))
    if page.store is None or given.is_read_whole or shown.is_read_whole or rendering.has_queried:
        return body
    # The names that it adds are made of its props and of what it looked at.
    seen = {"props", *given.seen, *(shown.seen - more.keys())}
    added = frozenset(page.heading_ids - ids_before)
    fragment = Fragment(body, frozenset(rendering.tags), added)
    page.store.keep(part, seen, frozen, fragment)
    return body


def replace_own_images(media: Mapping[str, SiteImage]) -> Callable[[str], TextImage | None]:
    """What running text shows for an address: an image of ours, one whose file is gone, or None for a foreign one."""

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
