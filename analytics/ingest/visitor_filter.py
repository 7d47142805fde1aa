"""Excludes bots, staff and visitors who ask not to be counted."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, parse_cookie

from proofroom.core.bots import is_program
from proofroom.core.middleware import STAFF_COOKIE

_PREFETCH_HEADERS: Final = ("HTTP_SEC_PURPOSE", "HTTP_PURPOSE", "HTTP_X_MOZ")


def counts(request: HttpRequest) -> bool:
    """Return True if events of this request are counted. No session is read."""
    meta = request.META
    return not (
        _is_of_staff(meta.get("HTTP_COOKIE", ""))
        # Do Not Track and Global Privacy Control: the visitor has opted out.
        or meta.get("HTTP_DNT") == "1"
        or meta.get("HTTP_SEC_GPC") == "1"
        # A prefetched page has not been seen by the visitor yet.
        or any(meta.get(name, "").lower().startswith("pre") for name in _PREFETCH_HEADERS)
        or is_program(meta.get("HTTP_USER_AGENT", ""))
    )


def _is_of_staff(cookies: str) -> bool:
    # The substring test is fast and avoids parsing the cookies of most visitors.
    return STAFF_COOKIE in cookies and parse_cookie(cookies).get(STAFF_COOKIE) == "1"
