"""The outline of a page: what its template makes of it but for the parts that are its own.

A template is rendered once for all pages that have the same contents of the names which it looks at by itself. Where
it has `{% include_kept %}` or `{% shown %}` it leaves a place, which is filled in for each page. It is kept as other
parts of pages are (`fragments`), and only where, filled in, it is what the template makes of the whole page.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from django.template.base import Node, Template
from django.template.context import Context
from django.template.loader import get_template
from django.utils.timezone import get_current_timezone
from django.utils.translation import get_language

from proofroom.core.caching.fragments import (
    ABSENT,
    Fragment,
    FragmentStore,
    FrozenNames,
    WatchedContext,
    watch_rendering,
)

STORE: Final = "fragments"
"""The name under which templates find the store of their parts."""
# No text of anybody can name a place: it is drawn anew in each process. What a template does with its parts, as
# `{% filter %}` or `{% spaceless %}`, changes the rest of it, and the place is found no more.
_SECRET: Final = secrets.token_hex(8)
_MARK: Final = f"\ue000{_SECRET}Ab <i> </i>\n\n&amp;&:"
_PLACE: Final = re.compile(rf"{re.escape(_MARK)}(\d+)\ue001")
_OF_TEMPLATES: Final = frozenset({"True", "False", "None", "block"})


@dataclass(frozen=True, slots=True)
class _Outline(Fragment):
    """The text around the places, the nodes that fill them, and the names that the template itself has set."""

    around: Sequence[str] = ()
    nodes: Sequence[Node] = ()
    added: Mapping[str, object] = field(default_factory=dict)

    def fill(self, template: Template, names: Mapping[str, object]) -> str:
        """The page with these names."""
        context = Context({**names, **self.added} if self.added else names)
        texts = [self.around[0]]
        with context.render_context.push_state(template), context.bind_template(template):
            for node, after in zip(self.nodes, self.around[1:], strict=True):
                texts += (node.render(context), after)
        return "".join(texts)


class OutlineDrawing:
    """The nodes that leave a place in an outline that is being drawn."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self._names = names
        self._surroundings: object = None
        self.nodes: list[Node] = []

    def place(self, node: Node, context: Context) -> str | None:
        """Leave a place for a node; None where it may show what is known there only, in a loop for instance.

        Nor in another language, time zone or way to escape than where the template begins.
        """
        surroundings = (
            get_language(),
            get_current_timezone(),
            context.autoescape,
            context.use_l10n,
            context.use_tz,
        )
        self._surroundings = self._surroundings or surroundings
        if surroundings != self._surroundings:
            return None
        for names in context.dicts:
            if names is not self._names and not _OF_TEMPLATES.issuperset(
                cast("dict[str, object]", names)
            ):
                return None
        self.nodes.append(node)
        return f"{_MARK}{len(self.nodes) - 1}\ue001"


def drawing_in(context: Context) -> OutlineDrawing | None:
    """The outline that is being drawn with this context."""
    # The bottom of this stack lasts as long as the page.
    found = cast("dict[object, object]", context.render_context.dicts[0]).get(OutlineDrawing)
    return found if isinstance(found, OutlineDrawing) else None


def render_page(template_name: str, names: Mapping[str, object]) -> str:
    """A page as its template makes it, by its outline where there is one."""
    return render_outlined(page_template(template_name), names)


def page_template(template_name: str) -> Template:
    """The template of a page; another one after its file has changed."""
    template: Template = cast(Any, get_template(template_name)).template
    return template


def render_outlined(template: Template, names: Mapping[str, object]) -> str:
    """A template with these names. Outlines are kept in the store among them; without one there are none."""
    store = names.get(STORE)
    if not isinstance(store, FragmentStore):
        return str(template.render(Context(dict(names))))
    part, frozen = (_Outline, template), FrozenNames(names)
    kept = store.find(part, frozen)
    if isinstance(kept, _Outline):
        return kept.fill(template, names)
    whole = str(template.render(Context(dict(names))))
    outline, seen = _draw(template, names)
    # What a template does with its parts is not always seen from within them.
    if outline is not None and outline.fill(template, names) == whole:
        store.keep(part, seen, frozen, outline)
    return whole


def _draw(template: Template, names: Mapping[str, object]) -> tuple[_Outline | None, set[str]]:
    """The outline of a page, and the names that it depends on; None where it cannot have one."""
    watched = WatchedContext(names)
    context = Context(watched)
    drawing = OutlineDrawing(watched)
    cast("dict[object, object]", context.render_context.dicts[0])[OutlineDrawing] = drawing
    with watch_rendering() as rendering:
        text: Any = template.render(context)
    pieces = _PLACE.split(text)
    is_whole = pieces[1::2] == [str(number) for number in range(len(drawing.nodes))]
    if watched.is_read_whole or rendering.has_queried or not is_whole:
        return None, set()
    outline = _Outline(
        text=text,
        tags=frozenset(rendering.tags),
        around=pieces[::2],
        nodes=drawing.nodes,
        added={
            name: value
            for name, value in dict.items(watched)
            if names.get(name, ABSENT) is not value
        },
    )
    return outline, watched.seen - {STORE}
