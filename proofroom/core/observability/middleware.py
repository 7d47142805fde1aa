"""Observation of requests: an id, the duration by route, and timings for staff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    load_backend,
)
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.cache import patch_cache_control
from django.utils.crypto import constant_time_compare
from django.utils.decorators import sync_and_async_middleware

from proofroom.core.middleware import (
    is_management,
    is_marked,
    loaded_user,
    session_key,
    set_loaded_user,
)
from proofroom.core.observability.operations import MeasuredOperation, OperationKind, measure
from proofroom.core.observability.work_ids import REQUEST_ID, bind_ids, choose_request_id

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

REQUEST_ID_HEADER: Final = "X-Request-ID"
NO_ROUTE: Final = "none"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def observe_request(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Give each request an id, measure it, and show staff its timing. The outermost middleware."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            with _observe(request) as finish:
                return finish(await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        with _observe(request) as finish:
            return finish(get_response(request))

    return answer


@contextmanager
def _observe(
    request: HttpRequest,
) -> Iterator[Callable[[HttpResponseBase], HttpResponseBase]]:
    # Only a trusted proxy may set the id: a visitor could give the same id to a thousand requests.
    given = request.headers.get(REQUEST_ID_HEADER) if settings.CMS_ENV.trusted_proxies else None
    request_id = request.META[REQUEST_ID] = choose_request_id(given)
    with bind_ids({"request_id": request_id}), measure(OperationKind.REQUEST, NO_ROUTE) as measured:
        # Clients can invent methods, but labels of metrics must be few.
        measured.method = request.method if request.method in _METHODS else "other"

        def finish(response: HttpResponseBase) -> HttpResponseBase:
            match = request.resolver_match
            measured.name = _route_name(match) if match is not None else NO_ROUTE
            measured.outcome = str(response.status_code)
            response.headers[REQUEST_ID_HEADER] = request_id
            # Loading a user here would cost a query.
            if getattr(loaded_user(request), "is_staff", False):
                _show_timing(request, response, measured)
            return response

        yield finish


def _show_timing(
    request: HttpRequest, response: HttpResponseBase, measured: MeasuredOperation
) -> None:
    if not is_management(request.path_info):
        # Shared caches serve this URL to visitors, and copy the headers of a 304 into their stored
        # response.
        if response.status_code == HTTPStatus.NOT_MODIFIED:
            return
        patch_cache_control(response, private=True)
    response.headers["Server-Timing"] = server_timing(measured)


def show_staff_timing(
    view: Callable[[HttpRequest, str], HttpResponseBase],
) -> Callable[[HttpRequest, str], HttpResponseBase]:
    """Show staff the timing of a public page, for which no middleware reads the session.

    The session is read only if `STAFF_COOKIE` is set, so that visitors cost no query. The cookie itself proves
    nothing.
    """

    @wraps(view)
    def answer(request: HttpRequest, path: str) -> HttpResponseBase:
        response = view(request, path)
        if is_marked(request) and (key := session_key(request)):
            set_loaded_user(request, _user_of_session(key))
        return response

    return answer


def _user_of_session(key: str) -> AbstractBaseUser | None:
    """Return the logged-in user of a session without changing it.

    Django's `get_user` may flush the session or change its key, which needs the session middleware to send a cookie.
    """
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    backend = session.get(BACKEND_SESSION_KEY)
    if backend not in settings.AUTHENTICATION_BACKENDS:
        return None
    user: AbstractBaseUser | None = load_backend(backend).get_user(int(session[SESSION_KEY]))
    session_hash = session.get(HASH_SESSION_KEY, "")
    if user is None or not constant_time_compare(session_hash, user.get_session_auth_hash()):
        return None
    return user


def _route_name(match: ResolverMatch) -> str:
    """Return the route, or the URL name if the route is a regular expression, which is unreadable in charts."""
    return match.url_name or match.route if "(?" in match.route else match.route


def server_timing(operation: MeasuredOperation) -> str:
    """Return the Server-Timing header (W3C Server Timing) in milliseconds.

    Browsers show it in their network panel.
    """
    total, database = 1000 * operation.elapsed, 1000 * operation.database_seconds
    return (
        f"total;dur={total:.1f}, "
        f'db;dur={database:.1f};desc="{operation.statements} statements", '
        f"app;dur={max(total - database, 0.0):.1f}"
    )
