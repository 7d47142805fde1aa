"""Template fragments for many objects: rendered once for all objects with the same values, then filled in for
each.
"""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, cast
from uuid import NAMESPACE_OID, UUID, uuid5

from django.conf import settings
from django.template.base import render_value_in_context
from django.template.context import Context
from django.template.engine import Engine
from django.template.exceptions import TemplateSyntaxError
from django.urls import get_script_prefix
from django.utils.safestring import SafeString
from django.utils.translation import get_language

# Random in each process, so that no user text can contain a placeholder.
_SECRET: Final = secrets.token_hex(8)
_PLACE: Final = re.compile(rf"\ue000{_SECRET}:(\w+)\ue001")
_SPECIAL: Final = re.compile("[&<>\"']").search
_MAX_KINDS: Final = 500
Parts = list[str]
"""The rendered template split at its placeholders: text, name, text, name, text."""


class Placeholder(SafeString):
    """A placeholder for a value. It can only be output."""

    def __bool__(self) -> bool:
        raise TemplateSyntaxError(_CONDITION_ERROR)


class PlaceholderId(UUID):
    """A placeholder for an id, which `{% url %}` accepts, too."""

    def __bool__(self) -> bool:
        raise TemplateSyntaxError(_CONDITION_ERROR)


_CONDITION_ERROR: Final = "A value after `each` differs every time: no `if` can ask for it."


def cached_stamp(template_name: str) -> RowTemplate:
    """Return a stamp cached for the process and the reader's language.

    Only for templates whose values in `same` are few and public, such as switches and columns.
    """
    if settings.DEBUG:
        return RowTemplate(template_name)  # templates may change
    return _cached_stamp(template_name, get_language(), get_script_prefix())


@lru_cache(200)
def _cached_stamp(template_name: str, language: str | None, script_prefix: str) -> RowTemplate:
    return RowTemplate(template_name)


class RowTemplate:
    """A template for many objects of a page, much faster than rendering it for each.

    It is rendered once for all objects with the same values in `same`. Only these values, which must be hashable, are
    in its context.
    """

    def __init__(self, template_name: str, context: Context | None = None) -> None:
        self._template_name = template_name
        self._context = Context() if context is None else context
        self._rendered: dict[object, Parts] = {}

    def fill(self, same: Mapping[str, object], each: Mapping[str, object]) -> SafeString:
        """Return the text for an object. The values in `each` are escaped and filled in every time.

        Raises `TemplateSyntaxError` if the template uses them for anything but output or, for UUIDs, `{% url %}`.
        """
        # The types are part of the key: 1 equals True but is shown differently, and a safe string
        # equals a plain one.
        key = (*same.values(), *map(type, same.values()))
        parts = self._rendered.get(key)
        if parts is None:
            if len(self._rendered) >= _MAX_KINDS:
                self._rendered.clear()
            parts = self._rendered[key] = self._render_once(same, each)
        found = {name: self._escape(value) for name, value in each.items()}
        return SafeString(
            "".join([found[part] if at % 2 else part for at, part in enumerate(parts)])
        )

    def _render_once(self, same: Mapping[str, object], each: Mapping[str, object]) -> Parts:
        places: dict[str, object] = {
            name: PlaceholderId(int=uuid5(NAMESPACE_OID, f"{_SECRET}:{name}").int)
            if isinstance(value, UUID)
            else Placeholder(f"\ue000{_SECRET}:{name}\ue001")
            for name, value in each.items()
        }
        page = self._context.template
        engine = Engine.get_default() if page is None else page.engine
        template = engine.get_template(self._template_name)
        text: str = template.render(self._context.new({**same, **places}))
        hidden = [_SECRET]
        for name, place in places.items():
            if isinstance(place, UUID):
                text = text.replace(str(place), f"\ue000{_SECRET}:{name}\ue001")
                hidden.append(place.hex)
        parts = cast(Parts, _PLACE.split(text))
        # A filter changed the placeholder, or the id was output in another form.
        if any(secret in part for part in parts[::2] for secret in hidden):
            raise TemplateSyntaxError(
                f"{self._template_name}: a value after `each` is shown as it is, without filters."
            )
        return parts

    def _escape(self, value: object) -> str:
        if type(value) is str and self._context.autoescape:
            # Like Django's escaping, without its checks for other types.
            return html.escape(value) if _SPECIAL(value) else value
        if type(value) is SafeString:
            return value
        if type(value) is UUID:
            return str(value)
        return render_value_in_context(value, self._context)
