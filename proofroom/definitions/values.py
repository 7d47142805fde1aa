"""Rules of a single value beyond its JSON type, by field type.

Each check takes the value that pydantic accepted and returns the value to store, or raises
`PydanticCustomError` with a sentence for the person (or model) that wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic_core import PydanticCustomError

from proofroom.definitions.richtext import schema as richtext
from proofroom.definitions.richtext.markdown import from_markdown

RICH_TEXT_MAX_BYTES = 400_000
"""Of the JSON form, in UTF-8."""
MARKDOWN_MAX = 200_000
"""Characters. Reading hostile Markdown of this length takes seconds."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


def _wrong(code: str, sentence: str) -> PydanticCustomError:
    # The sentence goes in as a value: pydantic would read braces in it as placeholders.
    return PydanticCustomError(code, "{sentence}", {"sentence": sentence})


def check_line(value: object) -> object:
    """One line of text: no control characters, no line breaks."""
    if isinstance(value, str) and (found := _CONTROL.search(value)):
        raise _wrong(
            "control_character",
            _(
                "Control characters and line breaks are not allowed here (U+%(ord)s at position "
                "%(start)s)."
            )
            % {"ord": f"{ord(found.group()):04X}", "start": found.start()},
        )
    return value


def check_lines(value: object) -> object:
    """Text of several lines: line breaks and tabs, no other control characters."""
    if isinstance(value, str) and (found := _CONTROL_BUT_LINES.search(value)):
        raise _wrong(
            "control_character",
            _("Control characters are not allowed (U+%(ord)s at position %(start)s).")
            % {"ord": f"{ord(found.group()):04X}", "start": found.start()},
        )
    return value


def document_of(markdown: str) -> object:
    """The rich-text document that a text in Markdown is."""
    if len(markdown) > MARKDOWN_MAX:
        raise _wrong(
            "rich_text",
            _("The Markdown has %(size)s characters; at most %(markdown_max)s are read.")
            % {"size": len(markdown), "markdown_max": MARKDOWN_MAX},
        )
    return from_markdown(markdown)


def check_rich_text(value: object) -> object:
    """A rich-text document of the editor's schema."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong(
            "rich_text", _("This is not a rich-text document that can be stored.")
        ) from error
    if size > RICH_TEXT_MAX_BYTES:
        raise _wrong(
            "rich_text",
            _("The document has %(size)s bytes; at most %(rich_text_max_bytes)s fit.")
            % {"size": size, "rich_text_max_bytes": RICH_TEXT_MAX_BYTES},
        )
    problems = richtext.validate(value)
    if problems:
        raise _wrong("rich_text", " ".join(problems[:5]))
    return value


def check_link(value: object) -> object:
    """A path of this site, an anchor, http(s), mailto or tel; empty means no link."""
    if not isinstance(value, str) or value == "":
        return value
    safe = richtext.safe_href(value)
    if safe is None:
        raise _wrong(
            "unsafe_link",
            _(
                "Use a path that begins with / , an #anchor, or an http, https, mailto or tel "
                "address."
            ),
        )
    return safe


def check_url(value: object) -> object:
    """An absolute http(s) address; empty means none."""
    checked = check_link(value)
    if (
        isinstance(checked, str)
        and checked
        and not checked.lower().startswith(("http://", "https://"))
    ):
        raise _wrong("unsafe_url", _("Use a full address that begins with https:// or http://."))
    return checked


def check_day(value: object) -> object:
    """A calendar day as YYYY-MM-DD."""
    if not isinstance(value, str):
        return value
    try:
        if _DAY.match(value) is None:
            raise ValueError
        date.fromisoformat(value)
    except ValueError as error:
        raise _wrong("date", _("Write a day of the calendar as YYYY-MM-DD.")) from error
    return value


def check_id(value: object) -> object:
    """A UUID in its canonical form, or a list of them without repetitions."""
    if isinstance(value, list):
        return list(dict.fromkeys(check_id(item) for item in value))
    if not isinstance(value, str):
        return value
    if value == "":
        return None
    try:
        return str(UUID(value))
    except ValueError as error:
        raise _wrong("id", _("Give the id (a UUID) of an existing item, or null.")) from error


def check_slug(value: object) -> object:
    """The slug of a thing; empty means none."""
    if isinstance(value, str) and value and _SLUG.match(value) is None:
        raise _wrong("slug", _("Give a slug: lower-case letters, digits, - and _."))
    return value


def check_distinct(value: object) -> object:
    """A list of choices, each at most once."""
    return list(dict.fromkeys(value)) if isinstance(value, list) else value


CHECKS: Mapping[str, Callable[[object], object]] = {
    "text": check_line,
    "textarea": check_lines,
    "richtext": check_rich_text,
    "date": check_day,
    "url": check_url,
    "link": check_link,
    "media": check_id,
    "icon": check_slug,
    "multiselect": check_distinct,
    "post-reference": check_id,
    "taxonomy-reference": check_id,
    "form-reference": check_slug,
}
