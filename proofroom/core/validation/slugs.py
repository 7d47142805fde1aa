"""Validation of slugs: ASCII ones for names in code and API URLs, and ones in any script for pages."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.errors import invalid
from proofroom.core.slugs import is_slug

ASCII_SLUG_PATTERN: Final = "^[a-z0-9]+(-[a-z0-9]+)*$"
_ASCII_SLUG: Final = re.compile(ASCII_SLUG_PATTERN)


def is_ascii_slug(text: object, limit: int) -> bool:
    """Return whether a text has only words of a to z and digits, joined by single hyphens, and at most `limit`
    characters.
    """
    return isinstance(text, str) and len(text) <= limit and bool(_ASCII_SLUG.fullmatch(text))


def clean_ascii_slug(field: str, value: object, limit: int) -> str:
    """Return an ASCII slug. Raises `RuleViolation` on the field."""
    if not is_ascii_slug(value, limit):
        raise invalid(
            field,
            _(
                "%(field)s may contain the lowercase letters a to z, digits and single hyphens, "
                "and at most %(limit)s characters."
            )
            % {"field": field, "limit": limit},
        )
    return str(value)


def clean_slug(value: str, limit: int) -> str:
    """Return the slug of a page or term in any script, in NFC. Raises `RuleViolation` on `slug`."""
    value = unicodedata.normalize("NFC", value)
    if len(value) > limit or not is_slug(value):
        raise invalid(
            "slug",
            _(
                "A slug may contain lowercase letters, digits and single hyphens, "
                "and at most %(limit)s characters."
            )
            % {"limit": limit},
        )
    return value
