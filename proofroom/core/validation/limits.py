"""Maximum lengths of stored values, in characters."""

from __future__ import annotations

from typing import Final

LABEL_MAX: Final = 200
"""The label of an object in a list."""
URL_MAX: Final = 2000
"""A URL or path. One in rich text may have `MAX_HREF` characters, the limit of sitemaps."""
LOCALE_MAX: Final = 12
"""A language code, such as `pt-br`."""
LOCALE_PATTERN: Final = r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
