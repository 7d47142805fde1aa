"""A part of a page that many things share, rendered once and filled in for each of them."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Final, cast

from django import template
from django.template.base import (
    FilterExpression,
    Node,
    Parser,
    Template,
    Token,
    render_value_in_context,
    token_kwargs,
)
from django.template.context import Context
from django.template.exceptions import TemplateSyntaxError
from django.utils.safestring import SafeString

register = template.Library()

# No text of anybody can name a place: it is drawn anew in each process.
_SECRET: Final = secrets.token_hex(8)
_PLACE: Final = re.compile(rf"\ue000{_SECRET}:(\w+)\ue001")
Expressions = Mapping[str, FilterExpression]
Parts = list[str]
"""The rendered part, cut at its places: text, name, text, name, text."""


class Placeholder(SafeString):
    """A placeholder of a value until it is filled in. It can be shown, and nothing else."""

    def __bool__(self) -> bool:
        raise TemplateSyntaxError(
            "A value after `each` differs every time: no `if` can ask for it."
        )


class StampedNode(Node):
    """`{% stamped "part.html" with same=… each other=… %}`: much faster than `include` where it comes often.

    The template is rendered once for all things that have the same values after `with`. It knows these, which can be
    hashed, and nothing else of the page. What stands after `each` is escaped and filled in every time.
    With `as name` at the end the text is kept under that name instead of shown.
    """

    def __init__(
        self, template_name: str, same: Expressions, each: Expressions, kept_as: str = ""
    ) -> None:
        self.template_name, self.same, self.each = template_name, same, each
        self.kept_as = kept_as

    def render(self, context: Context) -> SafeString:
        # The bottom of this stack lasts as long as the page, as for `include`.
        of_page = cast("dict[object, dict[object, Parts]]", context.render_context.dicts[0])
        made = of_page.setdefault(self, {})
        values = [value.resolve(context) for value in self.same.values()]
        # With the types: 1 is equal to True and shown otherwise, a text to the same one marked as safe.
        key = (*values, *map(type, values))
        parts = made.get(key)
        if parts is None:
            parts = made[key] = self._render_once(context, values)
        found = {name: _shown(value.resolve(context), context) for name, value in self.each.items()}
        text = "".join([found[part] if at % 2 else part for at, part in enumerate(parts)])
        if not self.kept_as:
            return SafeString(text)
        context[self.kept_as] = SafeString(text)
        return SafeString("")

    def _render_once(self, context: Context, values: Sequence[object]) -> Parts:
        name = self.template_name
        places = {place: Placeholder(f"\ue000{_SECRET}:{place}\ue001") for place in self.each}
        alone = context.new({**dict(zip(self.same, values, strict=True)), **places})
        engine = cast(Template, context.template).engine
        parts = _PLACE.split(engine.get_template(name).render(alone))
        if any(_SECRET in part for part in parts[::2]):
            raise TemplateSyntaxError(
                f"{name}: a value after `each` is shown as it is, without filters."
            )
        return parts


def _shown(value: object, context: Context) -> str:
    if type(value) is str and context.autoescape:
        return html.escape(value)  # as Django does, without its asking what the value may be
    return render_value_in_context(value, context)


@register.tag
def stamped(parser: Parser, token: Token) -> StampedNode:
    tag, quoted, *rest = token.split_contents()
    found: dict[str, dict[str, FilterExpression]] = {"with": {}, "each": {}}
    kept_as = ""
    while rest:
        word = rest.pop(0)
        if word == "as" and len(rest) == 1:
            kept_as = rest.pop()
        elif word in found and (values := token_kwargs(rest, parser)):
            found[word] |= values
        else:
            raise TemplateSyntaxError(f"{tag} {quoted}: unexpected {word!r}")
    return StampedNode(quoted.strip("\"'"), found["with"], found["each"], kept_as)
