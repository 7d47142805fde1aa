"""Answers to requests that reach no view: JSON under /api, a page elsewhere. Never a trace."""

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

from proofroom.core.database.faults import (
    RETRY_AFTER_SECONDS,
    describe_outage,
    is_database_away,
    log_database_away,
)
from proofroom.core.observability.work_ids import current_ids
from proofroom.core.templatetags.shell import THEME_COOKIE, THEMES

logger = logging.getLogger(__name__)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def _json(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": message, "code": code, "details": {}}, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return what the CSRF check answers."""
    if _is_api(request):
        return _json(
            403,
            "csrf_failed",
            "The CSRF check failed: send the value of the cookie csrftoken in the header X-CSRFToken.",
        )
    if request.path_info.startswith("/admin/"):
        # The form is older than the log-in of its reader, whose token is another one now.
        own = _in_admin(request, 403, is_form_old=True)
        return own or _admin_failure(request, 403)
    return csrf_page(request, reason)


def _in_admin(
    request: HttpRequest, status: int, reason: str = "", *, is_form_old: bool = False
) -> HttpResponse | None:
    """The page in the frame of the admin, for whoever may open the admin."""
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
    except DatabaseError:
        logger.exception("the page for %s failed", status)
        return None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return _json(400, "bad_request", "The request cannot be read.")
    # A page names addresses of this site, which a request with another host cannot be answered with.
    if request.path_info.startswith("/admin/") and not isinstance(exception, DisallowedHost):
        return _in_admin(request, 400) or _admin_failure(request, 400)
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return _json(403, "not_allowed", "You may not do this.")
    return _in_admin(request, 403, str(exception)) or defaults.permission_denied(request, exception)


def method_not_allowed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """A page in the place of the empty answer that a view of the admin gives to a method that it does not take."""
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
        if is_database_away(error):
            return unavailable(request, error)
        # A page of the site may need more than an error has; a plain answer beats a second error.
        logger.exception("the page for 404 failed")
        return HttpResponse("Not found", status=404, content_type="text/plain")


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Return what allauth answers beyond its rates, which are counted by the minute."""
    response: HttpResponse
    if _is_api(request):
        response = _json(429, "rate_limited", "Too many attempts. Wait a minute, then try again.")
    else:
        response = _admin_failure(request, 429)
    response["Retry-After"] = "60"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Called by Django while it handles the error."""
    error = sys.exc_info()[1]
    if is_database_away(error):
        return unavailable(request, error)
    if _is_api(request):
        return _json(500, "server_error", "Something went wrong here. It has been logged.")
    if request.path_info.startswith("/admin/"):
        return _admin_failure(request, 500)
    return defaults.server_error(request, template_name="500.html")


def _admin_failure(request: HttpRequest, status: int, *, may_be_done: bool = False) -> HttpResponse:
    """What to do after an error in the admin, with the reference that its log records carry. Asks the database
    nothing, and falls back to the page of the site where even this one breaks."""
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
        logger.exception("the page for %s failed", status)
        if status >= 500:
            return HttpResponse(render_to_string(f"{status}.html"), status=status)
        # The site has no page for the rest.
        return HttpResponse(HTTPStatus(status).phrase, status=status, content_type="text/plain")


def unavailable(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    """Return what everybody is answered while the database is away. Asks nothing of it."""
    log_database_away(error, f"{request.method} {request.path_info}")
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
    response._has_been_logged = True  # type: ignore[attr-defined]  # how Django marks what needs no traceback
    return response
