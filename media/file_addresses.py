"""Finds the file of the storage that an address names. Content keeps addresses; files are known by their names."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from django.conf import settings
from django.core.files.storage import default_storage

_NAME: Final = re.compile(r"[\w./-]{1,300}", re.ASCII)
_PROBE: Final = "x"
_VARIANT: Final = re.compile(r"(.*[0-9a-f]{32})(?:-dark)?-(?:large|medium|small)\.webp")
_SUFFIXES: Final = (".jpg", ".png", ".webp", ".gif", ".avif")


def storage_name(address: str) -> str | None:
    """The name in the storage of a file that an address leads to; None for what is no file of ours."""
    plain = re.split(r"[?#]", address, maxsplit=1)[0]
    # The address of every file begins so: on this site, and where else the storage serves them.
    local = settings.MEDIA_URL
    stored = default_storage.url(_PROBE).partition("?")[0].removesuffix(_PROBE)
    for base in (local, settings.SITE_URL + local, stored):
        if plain.startswith(base):
            name = unquote(plain.removeprefix(base))
            return name if _NAME.fullmatch(name) else None
    return None


def related_names(name: str) -> tuple[str, ...]:
    """The names under which the file's asset is known: its own, and of a variant, which may still be to be made,
    those that the file it is made of can have."""
    found = _VARIANT.fullmatch(name)
    return (name, *(found[1] + suffix for suffix in _SUFFIXES)) if found else (name,)
