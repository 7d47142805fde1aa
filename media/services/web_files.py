"""Files of other sites, fetched through the guard for outgoing calls."""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import urljoin

from django.conf import settings
from django.utils.translation import gettext as _

from media.services.files import TooLarge
from proofroom.core.errors import CmsError, invalid
from proofroom.core.http_client import CallRefused, HttpResult, Unreachable, fetch

FETCH_SECONDS: Final = 10.0
"""Timeout for one image, including redirects."""
MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class FetchFailed(CmsError):
    """The other site did not return the file. A retry may succeed."""

    status = 422
    code = "file_not_fetched"


class NoAnswer(FetchFailed):
    """The other site could not be reached, or took too long."""


def fetch_file(url: str) -> tuple[bytes, str]:
    """Return the content and its final URL. Each redirect target is checked like the first URL.

    Raises `RuleViolation` for a forbidden URL, `FetchFailed`, `TooLarge`.
    """
    limit, end = settings.CMS_ENV.media_max_bytes, time.monotonic() + FETCH_SECONDS
    for _hop in range(MAX_REDIRECTS + 1):
        answer = _call(url, seconds=end - time.monotonic(), max_bytes=limit)
        if answer.status in _REDIRECTS and (target := answer.headers.get("location")):
            url = urljoin(url, target)
            continue
        if answer.status != 200:
            raise FetchFailed(
                _("The other site responded with status %(status)s.") % {"status": answer.status}
            )
        # The note says that the body was cut: at the limit because of its size, before it by the other
        # site.
        if len(answer.body) >= limit and answer.note:
            raise TooLarge(
                _("The file is larger than %(media_max_bytes)s MB.")
                % {"media_max_bytes": f"{limit / 1024 / 1024:g}"},
                details={"file": [_("too large")]},
            )
        if answer.note:
            raise FetchFailed(_("The other site did not send the whole file."))
        return answer.body, url
    raise FetchFailed(_("The address redirects too often."))


def _call(url: str, *, seconds: float, max_bytes: int) -> HttpResult:
    if seconds <= 0:
        raise NoAnswer(_("The other site took too long to respond."))
    try:
        return fetch(
            "GET",
            url,
            headers={"Accept": "image/*, */*;q=0.5"},
            seconds=seconds,
            max_bytes=max_bytes,
        )
    except CallRefused:
        # Without the guard's message, which reveals what names of the internal network resolve to.
        raise invalid(
            "url", _("This site is not allowed to fetch files from that address.")
        ) from None
    except Unreachable:
        raise NoAnswer(_("The other site could not be reached.")) from None
