"""Redirect visitors of unknown addresses, and count hits."""

from __future__ import annotations

import atexit
import logging
from collections import Counter
from collections.abc import Callable
from threading import Lock, Timer
from typing import Final
from uuid import UUID

from django.db import DatabaseError, connections, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.http.response import HttpResponseBase

from proofroom.core.bots import is_internal_request
from proofroom.core.caching.cache_tags import REDIRECTS, cache_headers, marked_tags
from proofroom.core.caching.content_tags import ANY_TYPE, tag_of_list
from proofroom.core.site_urls import PAGE_MAX_AGE
from seo.models import Redirect
from seo.queries import target_of
from seo.redirect_paths import is_site, with_query

logger = logging.getLogger(__name__)
WRITE_SECONDS = 5.0
"""Time in seconds until hits are written; 0 writes each hit immediately."""
MAX_WAITING: Final = 1000
"""Maximum number of redirects with unwritten hits. Beyond it, the current request writes them."""


class HitCounter:
    """Counts hits per process, and writes them a few seconds later.

    One write per visitor would make all visitors of a popular redirect wait for the same row. A killed process
    loses the hits of those seconds.
    """

    def __init__(self) -> None:
        self._waiting: Counter[UUID] = Counter()
        self._lock = Lock()
        self._timer: Timer | None = None

    def add(self, redirect_id: UUID) -> None:
        """Count one hit of a redirect."""
        with self._lock:
            self._waiting[redirect_id] += 1
            is_due = WRITE_SECONDS == 0 or len(self._waiting) > MAX_WAITING
            if not is_due and self._timer is None:
                self._timer = Timer(WRITE_SECONDS, self._write_in_thread)
                # A daemon thread doesn't delay the end of the process; `atexit` writes the last hits.
                self._timer.daemon = True
                self._timer.start()
        # Outside the lock, which `write` takes itself.
        if is_due:
            self.write()

    def write(self) -> None:
        """Write the waiting hits in one transaction. After a database error they stay for the next write."""
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
            self._timer = None
        if not waiting:
            return
        try:
            with transaction.atomic():
                # Sorted, so that two processes can't deadlock.
                for redirect_id, number in sorted(waiting.items()):
                    rows = Redirect.objects.filter(pk=redirect_id)
                    rows.update(hits=F("hits") + number)
        except DatabaseError:
            logger.warning(
                "cannot store the hits of %s redirects; they are stored later",
                len(waiting),
                exc_info=True,
            )
            with self._lock:
                self._waiting += waiting

    def _write_in_thread(self) -> None:
        """Write in the timer's thread and close its connection, which Django closes only for requests."""
        try:
            self.write()
        finally:
            connections.close_all()


hits: Final = HitCounter()
atexit.register(hits.write)


class RedirectMiddleware:
    """Look for a redirect only after a 404, so that existing pages have no extra cost."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != 404 or request.method not in ("GET", "HEAD"):
            return response
        target = target_of(request.path_info) if is_site(request.path_info) else None
        if target is None:
            return response
        if not is_internal_request(request):
            hits.add(target.id)
        kind = HttpResponsePermanentRedirect if target.status == 301 else HttpResponseRedirect
        redirect = kind(with_query(target.to_path, request.META.get("QUERY_STRING", "")))
        # Without a limit, browsers keep a 301 permanently, even after the redirect is deleted.
        redirect.headers["Cache-Control"] = f"public, max-age={PAGE_MAX_AGE}"
        # A published post replaces a redirect of its path.
        tags = {*marked_tags([REDIRECTS]), tag_of_list(ANY_TYPE)}
        for name, value in cache_headers(tags).items():
            redirect.headers[name] = value
        return redirect
