"""Counts no visits of programs, of staff, and of people who ask not to be counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest

from proofroom.core.bots import is_program
from proofroom.core.middleware import is_marked

_PREFETCH_HEADERS: Final = ("Sec-Purpose", "Purpose", "X-Moz")


def counts(request: HttpRequest) -> bool:
    """Return whether what the call reports is counted. No session is looked at."""
    return not (
        is_marked(request)
        or refuses_tracking(request.headers)
        or is_prefetch(request.headers)
        or is_program(request.META.get("HTTP_USER_AGENT", ""))
    )


def refuses_tracking(headers: Mapping[str, str]) -> bool:
    """Return whether the visitor's browser asks not to be tracked (Do Not Track, Global Privacy Control)."""
    return headers.get("DNT") == "1" or headers.get("Sec-GPC") == "1"


def is_prefetch(headers: Mapping[str, str]) -> bool:
    """Return whether a browser asks in case its visitor should come: nobody has seen the page yet."""
    return any(headers.get(name, "").lower().startswith("pre") for name in _PREFETCH_HEADERS)
