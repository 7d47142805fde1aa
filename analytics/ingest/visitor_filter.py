"""Counts no visits of programs, of staff, and of people who ask not to be counted."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, parse_cookie

from proofroom.core.bots import is_program
from proofroom.core.middleware import STAFF_COOKIE

_PREFETCH_HEADERS: Final = ("HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_MOZ")


def counts(request: HttpRequest) -> bool:
    """Return whether what the call reports is counted. No session is looked at."""
    meta = request.META
    return not (
        _is_of_staff(meta.get("HTTP_COOKIE", ""))
        # Do Not Track and Global Privacy Control: the visitor's browser asks not to be tracked.
        or meta.get("HTTP_DNT") == "1"
        or meta.get("HTTP_SEC_GPC") == "1"
        # A browser asks in case its visitor should come: nobody has seen the page yet.
        or any(meta.get(name, "").lower().startswith("pre") for name in _PREFETCH_HEADERS)
        or is_program(meta.get("HTTP_USER_AGENT", ""))
    )


def _is_of_staff(cookies: str) -> bool:
    return STAFF_COOKIE in cookies and parse_cookie(cookies).get(STAFF_COOKIE) == "1"
