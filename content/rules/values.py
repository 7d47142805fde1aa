"""What may stand in a single post field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from content.post_fields import POST_FIELDS, FieldFormat, FieldKind, PostField
from content.posts.post_repository import format_time
from proofroom.core.errors import invalid
from proofroom.core.json import Json
from proofroom.definitions.richtext.schema import safe_href

_SLUG: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_JSON_MAX: Final = 20_000
_LARGEST: Final = 2**53
_LATEST_YEAR: Final = 9000


def clean_value(name: str, value: Json) -> Json:
    """The value to store in a field; `RuleViolation` keyed by the field's name."""
    field = POST_FIELDS[name]
    check = _FORMATS.get(field.format) or _KINDS.get(field.kind)
    return check(field, value) if check is not None else _text(field, value)


def _text(field: PostField, value: Json) -> Json:
    if value is None and not field.required:
        return None if field.is_nullable else ""
    return clean_line(
        field.name,
        value,
        field.max_length or 0,
        required=field.required,
        lines=field.kind == "textarea",
    )


def clean_line(
    name: str, value: Json, limit: int, *, required: bool = False, lines: bool = False
) -> str:
    """Text of at most so many characters, on one line unless `lines`; `RuleViolation` keyed by the field's name."""
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise invalid(name, _("%(name)s must be text.") % {"name": name})
    value = value.strip()
    if required and not value:
        raise invalid(name, _("%(name)s must not be empty.") % {"name": name})
    if len(value) > limit:
        raise invalid(
            name,
            _("%(name)s has %(number)s characters; at most %(limit)s are allowed.")
            % {"name": name, "number": f"{len(value):,}", "limit": f"{limit:,}"},
        )
    if _CONTROL.search(value) or (not lines and ("\n" in value or "\r" in value)):
        raise invalid(
            name,
            _("%(name)s must not hold control characters or line breaks.") % {"name": name},
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise invalid(
            name, _("%(name)s holds half of a character (a lone surrogate).") % {"name": name}
        ) from None
    return value


def _slug(field: PostField, value: Json) -> Json:
    text = str(_text(field, value))
    if not _SLUG.match(text) or text != text.lower():
        raise invalid(
            field.name,
            _(
                "A slug is made of lower-case letters and digits, in words joined by single hyphens."
            ),
        )
    return text


def _address(field: PostField, value: Json) -> Json:
    text = str(_text(field, value) or "")
    if not text:
        return None if field.is_nullable else ""
    if not text.startswith(("http://", "https://")) or safe_href(text) is None:
        raise invalid(
            field.name,
            _("%(name)s must be an absolute http(s) address.") % {"name": field.name},
        )
    return text


def _json_object(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise invalid(name, _("%(name)s must be an object or null.") % {"name": name})
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        _check_numbers(value)
    except (ValueError, RecursionError):
        message = _("%(name)s holds a number or a character that cannot be stored.") % {
            "name": name
        }
        raise invalid(name, message) from None
    if len(text) > _JSON_MAX:
        raise invalid(
            name,
            _("%(name)s is too large; at most %(json_max)s characters of JSON are allowed.")
            % {"name": name, "json_max": f"{_JSON_MAX:,}"},
        )
    if "\\u0000" in text:
        raise invalid(name, _("%(name)s must not hold control characters.") % {"name": name})
    return dict(value)


def _check_numbers(value: Json) -> None:
    """Raise `ValueError` for a number that JSON readers elsewhere, and our own, cannot hold exactly."""
    if isinstance(value, Mapping):
        for item in value.values():
            _check_numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int | float) and abs(value) > _LARGEST:
        raise ValueError(value)


def _robots(field: PostField, value: Json) -> Json:
    name = field.name
    found = _json_object(field, value)
    if isinstance(found, Mapping):
        for key, item in found.items():
            if key in ("index", "follow") and not isinstance(item, bool):
                raise invalid(
                    name, _("%(name)s.%(key)s must be true or false.") % {"name": name, "key": key}
                )
    return found


def _uuid(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    try:
        return str(UUID(str(value)))
    except ValueError:
        raise invalid(name, _("%(name)s must be a UUID.") % {"name": name}) from None


def _whole_number(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None if field.is_nullable else 0
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1_000_000:
        raise invalid(
            name,
            _("%(name)s must be a whole number between -1,000,000 and 1,000,000.") % {"name": name},
        )
    return value


def _moment(field: PostField, value: Json) -> Json:
    name = field.name
    if value is None:
        return None
    moment: datetime | None = None
    if isinstance(value, str):
        try:
            moment = parse_datetime(value)
            moment = moment.astimezone(UTC) if moment and moment.tzinfo else None
        except (ValueError, OverflowError):
            moment = None
    if moment is None or moment.year > _LATEST_YEAR:
        raise invalid(
            name,
            _("%(name)s must be a time in ISO 8601 with its zone, like 2030-01-31T08:00:00Z.")
            % {"name": name},
        )
    if moment <= timezone.now():
        raise invalid(name, _("%(name)s must lie in the future.") % {"name": name})
    return format_time(moment)


_FORMATS: Final[Mapping[FieldFormat, Callable[[PostField, Json], Json]]] = {
    "slug": _slug,
    "robots": _robots,
}
_KINDS: Final[Mapping[FieldKind, Callable[[PostField, Json], Json]]] = {
    "url": _address,
    "json": _json_object,
    "media": _uuid,
    "post-reference": _uuid,
    "number": _whole_number,
    "moment": _moment,
}
