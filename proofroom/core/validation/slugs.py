"""Slugs: of letters a to z, as names in code and addresses of the API are, and of any script, as pages have them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.errors import invalid
from proofroom.core.i18n.words import is_slug

ASCII_SLUG_PATTERN: Final = "^[a-z0-9]+(-[a-z0-9]+)*$"
_ASCII_SLUG: Final = re.compile(ASCII_SLUG_PATTERN)


def is_ascii_slug(text: object, limit: int) -> bool:
    """Return whether it is words of a to z and digits, joined by single hyphens, of at most so many characters."""
    return isinstance(text, str) and len(text) <= limit and bool(_ASCII_SLUG.fullmatch(text))


def clean_ascii_slug(field: str, value: object, limit: int) -> str:
    """The value of a field that is an ASCII slug. Raises `RuleViolation` on that field."""
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
    """The slug of a page or term, in any script, its accents composed. Raises `RuleViolation` on `slug`."""
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
