"""An HTTP server for the metrics of a worker, which has no other server.

If processes share the folder of metrics, web and MCP processes report for the workers, too. This is for workers on
their own machine or in their own container.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.db import close_old_connections

from proofroom.core.observability.background_loop import BackgroundLoop
from proofroom.core.observability.metrics import answer_scrape

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

logger = logging.getLogger(__name__)
PATH: Final = "/health/metrics"
"""The same path as in the web process."""


def serve_metrics() -> None:
    """Start the server if WORKER_METRICS_PORT is set."""
    port = settings.CMS_ENV.worker_metrics_port
    if port is None:
        return
    try:
        server = make_server("", port, answer, handler_class=_QuietHandler)
    except OSError as error:
        # The worker's tasks are more important than its metrics.
        logger.error("WORKER_METRICS_PORT: no metrics from this worker on port %s: %s", port, error)
        return

    def answer_all() -> bool:
        server.serve_forever()
        return True

    BackgroundLoop("metrics", answer_all).start()


def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Handle a request to the server."""
    try:
        scrape = None
        if environ["PATH_INFO"] == PATH and environ["REQUEST_METHOD"] == "GET":
            scrape = answer_scrape(environ.get("HTTP_AUTHORIZATION", ""))
        if scrape is None:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b"Metrics are at /health/metrics, where METRICS_TOKEN is set.\n"]
        status = HTTPStatus(scrape.status)
        start_response(f"{status.value} {status.phrase}", list(scrape.headers.items()))
        return [scrape.body]
    finally:
        # Django's request signals, which would do this, don't fire here.
        close_old_connections()


class _QuietHandler(WSGIRequestHandler):
    timeout = 10
    """Seconds. The server handles one request at a time, so a slow client must not block it."""

    def log_message(self, format: str, *args: object) -> None:
        """Don't log scrapes."""
