"""Lengths, in characters, that are the same wherever such a value is kept."""

from __future__ import annotations

from typing import Final

LABEL_MAX: Final = 200
"""What people call something in a list."""
URL_MAX: Final = 2000
"""An address or a path of its own. One within rich text may have `MAX_HREF` characters, as many as sitemaps take."""
LOCALE_MAX: Final = 12
"""The code of a language, such as `pt-br`."""
LOCALE_PATTERN: Final = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
