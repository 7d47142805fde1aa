"""Sections of the site: leading paths of addresses, in their stored form."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings

_ORIGIN: Final = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
"""The beginning of a whole address, as editors paste it."""


def normalize_section(path: str) -> str:
    """Return the path without host, query, language and slashes at its ends: `/de/guides/` becomes `guides`."""
    bare = _ORIGIN.sub("", path.strip()).partition("?")[0].partition("#")[0]
    parts = [part for part in bare.split("/") if part]
    if parts and parts[0] in settings.CMS_ENV.locales:
        del parts[0]
    return "/".join(parts)


def leading_sections(path: str) -> list[str]:
    """Return the sections that contain a path, longest first: `guides/coffee` and `guides`."""
    parts = normalize_section(path).split("/")
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1) if parts[0]]
