"""Texts as they are stored and read: one line within a limit, the slug that a title gives, the id that a text is."""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from proofroom.core.errors import invalid
from proofroom.core.json import Json

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


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


def slug_of(title: str) -> str:
    """A slug from a title: letters and digits of any script, in words joined by hyphens."""
    plain = unicodedata.normalize("NFKC", title).lower()
    words = re.sub(r"[\W_]+", "-", plain).strip("-")
    return words[:120].strip("-") or "post"


def parse_uuid(value: object) -> UUID | None:
    """The id that a value is, or spells; None for everything else."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None
