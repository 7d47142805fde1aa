"""Observes each request: its id, its duration by route, and timings for staff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.decorators import sync_and_async_middleware

from proofroom.core.observability.operations import MeasuredOperation, OperationKind, measure
from proofroom.core.observability.work_ids import REQUEST_ID, bind_ids, choose_request_id

REQUEST_ID_HEADER: Final = "X-Request-ID"
NO_ROUTE: Final = "none"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def observe_request(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Give the request an id, measure it, and show staff how long it took: the outermost middleware."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            with _observed(request) as finish:
                return finish(await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        with _observed(request) as finish:
            return finish(get_response(request))

    return answer


@contextmanager
def _observed(
    request: HttpRequest,
) -> Iterator[Callable[[HttpResponseBase], HttpResponseBase]]:
    # Only a proxy of ours names requests: a visitor could give a thousand of them one name.
    given = request.headers.get(REQUEST_ID_HEADER) if settings.CMS_ENV.trusted_proxies else None
    request_id = request.META[REQUEST_ID] = choose_request_id(given)
    with bind_ids({"request_id": request_id}), measure(OperationKind.REQUEST, NO_ROUTE) as measured:
        measured.method = request.method if request.method in _METHODS else "other"

        def finish(response: HttpResponseBase) -> HttpResponseBase:
            match = request.resolver_match
            measured.name = _name_of(match) if match is not None else NO_ROUTE
            measured.outcome = str(response.status_code)
            response.headers[REQUEST_ID_HEADER] = request_id
            # Whoever nobody asked for is a visitor: to ask now would cost a query.
            if getattr(getattr(request, "_cached_user", None), "is_staff", False):
                response.headers["Server-Timing"] = server_timing(measured)
            return response

        yield finish


def _name_of(match: ResolverMatch) -> str:
    """The route, or the name of one that is an expression: nobody reads those in a chart."""
    return match.url_name or match.route if "(?" in match.route else match.route


def server_timing(operation: MeasuredOperation) -> str:
    """Return the header that the browser's network panel shows as bars (W3C Server Timing), in milliseconds."""
    total, database = 1000 * operation.elapsed, 1000 * operation.database_seconds
    return (
        f"total;dur={total:.1f}, "
        f'db;dur={database:.1f};desc="{operation.statements} statements", '
        f"app;dur={max(total - database, 0.0):.1f}"
    )
