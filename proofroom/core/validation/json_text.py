"""JSON typed by users, with error messages that name the line."""

from __future__ import annotations

import json
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.json import Json

_EXCERPT_LENGTH: Final = 30
_NAME: Final = "Expecting property name enclosed in double quotes"
_VALUE: Final = "Expecting value"
_REASONS: Final = {
    "Expecting ',' delimiter": gettext_lazy(
        "Line %(line)s: a comma or a closing bracket is missing before “%(excerpt)s”."
    ),
    "Expecting ':' delimiter": gettext_lazy(
        "Line %(line)s: a colon is missing before “%(excerpt)s”."
    ),
    _NAME: gettext_lazy("Line %(line)s: a name needs straight double quotes: “%(excerpt)s”."),
    _VALUE: gettext_lazy(
        "Line %(line)s: a value is missing, or text has no straight double quotes: “%(excerpt)s”."
    ),
    "Unterminated string starting at": gettext_lazy(
        "Line %(line)s: the closing double quote is missing: “%(excerpt)s”."
    ),
    "Invalid control character at": gettext_lazy(
        "Line %(line)s: text has a line break or a tab, or its closing double quote is missing."
    ),
    "Invalid \\escape": gettext_lazy("Line %(line)s: a backslash in text must be typed twice."),
    "Invalid \\uXXXX escape": gettext_lazy(
        "Line %(line)s: after \\u come four digits or letters from a to f."
    ),
    "Extra data": gettext_lazy(
        "Line %(line)s: the JSON ends before “%(excerpt)s”. Remove what follows."
    ),
}
"""Sentences by the standard library's message without its position."""
_TRAILING_COMMA: Final = gettext_lazy("Line %(line)s: remove the comma before “%(excerpt)s”.")
_UNREADABLE: Final = gettext_lazy("Line %(line)s: “%(excerpt)s” cannot be read.")


def read_json(text: str) -> Json:
    """Parse JSON. Raises `ValueError` with a sentence for the user."""
    try:
        found: Json = json.loads(text)
    except json.JSONDecodeError as error:
        reason = _reason(error)
    except RecursionError:
        reason = _("It is nested too deeply.")
    except ValueError:  # an integer with more digits than Python parses
        reason = _("It has a number with too many digits.")
    else:
        return found
    raise ValueError(_("This is not valid JSON. %(reason)s") % {"reason": reason})


def _reason(error: json.JSONDecodeError) -> str:
    before, rest = error.doc[: error.pos], error.doc[error.pos :].lstrip()
    if not rest:
        line = error.doc.rstrip().count("\n") + 1
        return _("Line %(line)s: a bracket or a value is missing at the end.") % {"line": line}
    known = _REASONS.get(error.msg, _UNREADABLE)
    is_after_comma = before.rstrip().endswith(",") and rest[0] in "}]"
    if is_after_comma or error.msg.startswith("Illegal trailing comma"):  # since Python 3.13
        known, rest = _TRAILING_COMMA, rest.lstrip(", \t\r\n")
    first = rest.splitlines()[0]
    if len(first) > _EXCERPT_LENGTH:
        first = f"{first[: _EXCERPT_LENGTH - 1].rstrip()}…"
    return str(known) % {"line": before.count("\n") + 1, "excerpt": first}
