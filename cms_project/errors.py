"""Error responses for requests that reach no view: JSON under /api, a page elsewhere, never a traceback."""

from __future__ import annotations

import logging
import sys
from http import HTTPStatus

from django.contrib import admin
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template import TemplateDoesNotExist
from django.template.loader import render_to_string
from django.views import defaults
from django.views.csrf import csrf_failure as csrf_page

from cms_project.logs import mark_logged
from proofroom.core.database.errors import (
    RETRY_AFTER_SECONDS,
    describe_outage,
    is_database_unreachable,
    log_database_unreachable,
)
from proofroom.core.observability.work_ids import current_ids
from proofroom.core.templatetags.shell import THEME_COOKIE, THEMES

logger = logging.getLogger(__name__)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def _json(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": message, "code": code, "details": {}}, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the response to a failed CSRF check."""
    if _is_api(request):
        return _json(
            403,
            "csrf_failed",
            "The CSRF check failed: send the value of the cookie csrftoken in the header X-CSRFToken.",
        )
    if request.path_info.startswith("/admin/"):
        # The form was loaded before the user logged in, which gave them a new token.
        own = _in_admin(request, 403, is_form_old=True)
        return own or _admin_failure(request, 403)
    return csrf_page(request, reason)


def _in_admin(
    request: HttpRequest, status: int, reason: str = "", *, is_form_old: bool = False
) -> HttpResponse | None:
    """Return the page in the frame of the admin, or None if the user may not open the admin."""
    if not request.path_info.startswith("/admin/") or getattr(request, "user", None) is None:
        return None
    try:
        if not admin.site.has_permission(request):
            return None
        context = {
            **admin.site.each_context(request),
            "status": status,
            "reason": reason,
            "is_form_old": is_form_old,
        }
        text = render_to_string("admin/error.html", context, request)
        return HttpResponse(text, status=status)
    # The frame needs the database. The caller has a page that does not.
    except DatabaseError:
        logger.exception("cannot render the error page for status %s", status)
        return None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return _json(400, "bad_request", "The request cannot be read.")
    # The page contains URLs of this site, which cannot be built for a request with an invalid host.
    if request.path_info.startswith("/admin/") and not isinstance(exception, DisallowedHost):
        return _in_admin(request, 400) or _admin_failure(request, 400)
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return _json(403, "not_allowed", "You may not do this.")
    return _in_admin(request, 403, str(exception)) or defaults.permission_denied(request, exception)


def method_not_allowed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Replace the empty response that a view of the admin gives to a method it does not accept."""
    page = _in_admin(request, 405)
    if page is None:
        return response
    page["Allow"] = response["Allow"]
    return page


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if _is_api(request):
        return _json(404, "not_found", f"There is nothing at {request.path_info}.")
    own = _in_admin(request, 404)
    if own is not None:
        return own
    try:
        return HttpResponse(render_to_string("site/404.html", {}, request), status=404)
    except TemplateDoesNotExist:
        raise
    except Exception as error:
        if is_database_unreachable(error):
            return unavailable(request, error)
        # The page of the site needs the database and other apps. A plain response is better than a second error.
        logger.exception("cannot render the error page for status 404")
        return HttpResponse("Not found", status=404, content_type="text/plain")


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Return the response for allauth's rate limits, which count by the minute."""
    response: HttpResponse
    if _is_api(request):
        response = _json(429, "rate_limited", "Too many attempts. Wait a minute, then try again.")
    else:
        response = _admin_failure(request, 429)
    response["Retry-After"] = "60"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the response for an exception. Django calls this while it handles the exception."""
    error = sys.exc_info()[1]
    if is_database_unreachable(error):
        return unavailable(request, error)
    if _is_api(request):
        return _json(500, "server_error", "Something went wrong here. It has been logged.")
    if request.path_info.startswith("/admin/"):
        return _admin_failure(request, 500)
    return defaults.server_error(request, template_name="500.html")


def _admin_failure(request: HttpRequest, status: int, *, may_be_done: bool = False) -> HttpResponse:
    """Return the page for an error in the admin, with the id of its log records. It needs no database.

    If this page fails too, return the page of the site.
    """
    theme = request.COOKIES.get(THEME_COOKIE, "")
    context = {
        "status": status,
        "may_be_done": may_be_done,
        "reference": current_ids().get("request_id", ""),
        "address": request.get_full_path() if request.method in ("GET", "HEAD") else "",
        "theme": theme if theme in THEMES else "auto",
    }
    try:
        text = render_to_string("admin/failure.html", context)
        return HttpResponse(text, status=status)
    except Exception:
        logger.exception("cannot render the error page for status %s", status)
        if status >= 500:
            return HttpResponse(render_to_string(f"{status}.html"), status=status)
        # The site has no template for other statuses.
        return HttpResponse(HTTPStatus(status).phrase, status=status, content_type="text/plain")


def unavailable(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    """Return the response while the database is unavailable. It does not query the database."""
    log_database_unreachable(error, f"{request.method} {request.path_info}")
    outage = describe_outage(error)
    response: HttpResponse
    if _is_api(request):
        response = _json(503, outage.code, outage.message)
    elif request.path_info.startswith("/admin/"):
        response = _admin_failure(request, 503, may_be_done=not outage.is_repeatable)
    else:
        text = render_to_string("503.html", {"may_be_done": not outage.is_repeatable})
        response = HttpResponse(text, status=503)
    if outage.is_repeatable:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    response["Cache-Control"] = "no-store"
    mark_logged(request)
    return response
