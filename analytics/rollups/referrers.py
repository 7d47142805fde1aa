"""The sites that visitors come from, by the names of their hosts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from django.conf import settings

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)
LONGEST: Final = 260
"""Of what is looked at."""


def referrer_of(given: object) -> str:
    """The host, where it is a name with a dot and none of the site's own; else nothing."""
    if not isinstance(given, str) or len(given) > LONGEST:
        return ""
    return _referrer(given, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=4_096)
def _referrer(given: str, own: tuple[str, ...]) -> str:
    host = given.lower().partition(":")[0].removesuffix(".")
    if not _HOST.fullmatch(host) or any(_is(host, name.lower()) for name in own):
        return ""
    return host


def _is(host: str, own: str) -> bool:
    """Whether a name of `ALLOWED_HOSTS` is the host: `.example.com` is a domain with all below it."""
    if own.startswith("."):
        return host == own[1:] or host.endswith(own)
    return host == own
