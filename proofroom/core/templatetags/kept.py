"""Parts of pages that are rendered once for the same contents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from django import template
from django.template.base import FilterExpression, Node, Parser, Template, Token, token_kwargs
from django.template.context import Context
from django.template.defaulttags import FirstOfNode
from django.template.exceptions import TemplateSyntaxError
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from proofroom.core.caching.fragments import (
    ABSENT,
    Fragment,
    FragmentStore,
    FrozenNames,
    WatchedContext,
    watch_rendering,
)
from proofroom.core.caching.outlines import drawing_in

register = template.Library()


class KeptIncludeNode(Node):
    """`{% include_kept "part.html" with name=… %}`: `include`, but rendered once for what its template looks at.

    Every name is known inside, as it is for `include`. Pages that are not to be kept, as previews, have no name
    `fragments`; there it is `include`. `{% include_shared %}` is the same for what pages have in common: in an
    outline it is no part of its own.
    """

    def __init__(
        self, template_name: str, more: Mapping[str, FilterExpression], *, is_shared: bool = False
    ) -> None:
        self.template_name, self.more = template_name, more
        self.is_shared = is_shared
        self._part: Template | None = None

    def render(self, context: Context) -> SafeString:
        drawing = drawing_in(context)
        is_own = drawing is not None and not self.is_shared
        place = drawing.place(self, context) if drawing is not None and is_own else None
        if place is not None:
            return SafeString(place)
        engine = cast(Template, context.template).engine
        part = self._part
        if part is None or engine.debug:
            # Compiled with the template that holds it, and looked for anew while templates are being written.
            part = self._part = engine.get_template(self.template_name)
        more = {name: value.resolve(context) for name, value in self.more.items()}
        with context.push(**more):
            page: Mapping[str, object] = next(
                (names for names in reversed(context.dicts) if "fragments" in names), {}
            )
            store = page.get("fragments")
            # An outline depends on what its parts look at, too.
            if not isinstance(store, FragmentStore) or drawing is not None:
                return part.render(context)
            kept = store.find(part, _FrozenContext(context))
            if kept is not None:
                return SafeString(kept.text)
            values = cast("dict[str, object]", context.flatten())
        names = WatchedContext(values)
        with watch_rendering() as rendering:
            text = part.render(context.new(names))
        if not names.is_read_whole and not rendering.has_queried:
            # A part within this one looks for the store itself.
            seen = names.seen - {"fragments"}
            fragment = Fragment(text, frozenset(rendering.tags))
            store.keep(part, seen, FrozenNames(values), fragment)
        return text


class _FrozenContext:
    """The names of a context."""

    def __init__(self, context: Context) -> None:
        self._dicts = context.dicts
        self.language = get_language()

    def value_of(self, name: str) -> object:
        for names in reversed(self._dicts):
            if name in names:
                return names[name]
        return ABSENT


class ShownNode(FirstOfNode):
    """`{% shown seo.title page_title %}`: `firstof`, for values that nearly every page has its own of.

    Pages that differ in nothing else share their outline (`proofroom.core.caching.outlines`).
    """

    def render(self, context: Context) -> SafeString:
        drawing = drawing_in(context)
        place = drawing.place(self, context) if drawing is not None else None
        return SafeString(place if place is not None else super().render(context))


@register.tag
def shown(parser: Parser, token: Token) -> ShownNode:
    tag, *values = token.split_contents()
    if not values:
        raise TemplateSyntaxError(f"{tag}: names a value")
    return ShownNode([parser.compile_filter(value) for value in values])


@register.tag
def include_kept(parser: Parser, token: Token) -> KeptIncludeNode:
    tag, quoted, *rest = token.split_contents()
    more: dict[str, FilterExpression] = {}
    if rest[:1] == ["with"]:
        rest.pop(0)
        more = token_kwargs(rest, parser)
    if rest:
        raise TemplateSyntaxError(f"{tag} {quoted}: unexpected {rest[0]!r}")
    return KeptIncludeNode(quoted.strip("\"'"), more, is_shared=tag == "include_shared")


register.tag("include_shared", include_kept)
