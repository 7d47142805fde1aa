"""All errors of all endpoints in one shape: `{error, code, details}`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import IntegrityError, OperationalError
from django.http import Http404
from rest_framework import exceptions

from proofroom.core.database.errors import (
    RETRY_AFTER_SECONDS,
    describe_outage,
    is_database_unreachable,
    log_database_unreachable,
)
from proofroom.core.errors import CmsError, Conflict

if TYPE_CHECKING:
    from rest_framework.response import Response

logger = logging.getLogger(__name__)

_CODES = {
    400: "bad_request",
    401: "not_authenticated",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}


class CsrfFailed(exceptions.PermissionDenied):
    """A call with a session but without its CSRF token."""

    default_code = "csrf_failed"
    default_detail = (
        "The CSRF check failed: send the value of the cookie csrftoken in the header X-CSRFToken."
    )


class SecondFactorRequired(exceptions.PermissionDenied):
    """A session of an account without a second factor, although its role requires one."""

    default_code = "second_factor_required"
    default_detail = "Your role requires two-factor authentication. Set it up in the admin first."


class InvalidToken(exceptions.AuthenticationFailed):
    """The same answer for unknown, expired and revoked tokens, and for tokens of inactive accounts."""

    default_code = "invalid_token"
    default_detail = "The token is not valid: it is unknown, expired or revoked."


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Handle exceptions of DRF views. Unexpected errors are logged and answered with a bare 500."""
    if isinstance(error, CmsError):
        response = body(error.status, error.code, error.message, error.details)
        if isinstance(error, Conflict) and error.current is not None:
            response.data["version"] = error.current
            response.data["details"].setdefault("version", []).append(
                f"The version is {error.current}."
            )
        # A 401 must name an authentication scheme (RFC 9110, section 15.5.2).
        if error.status == 401:
            response["WWW-Authenticate"] = "Bearer"
        return response
    if isinstance(error, Http404):
        return body(404, "not_found", "There is nothing here.")
    if isinstance(error, PermissionDenied):
        return body(403, "not_allowed", "You may not do this.")
    if isinstance(error, RequestDataTooBig):
        return body(413, "too_large", "The body is too large.")
    if isinstance(error, SuspiciousOperation):
        return body(400, "bad_request", "The request cannot be read.")
    if isinstance(error, exceptions.APIException):
        status = error.status_code
        has_own_code = isinstance(error, CsrfFailed | InvalidToken | SecondFactorRequired)
        code = error.default_code if has_own_code else _CODES.get(status, "error")
        detail = error.detail if isinstance(error.detail, str) else "The request is not valid."
        response = body(status, code, str(detail))
        if status == 401:
            response["WWW-Authenticate"] = "Bearer"
        wait: float | None = getattr(error, "wait", None)
        if wait is not None:
            response["Retry-After"] = str(max(1, int(wait)))
        return response
    if is_database_unreachable(error):
        log_database_unreachable(error, type(context.get("view")).__name__)
        outage = describe_outage(error)
        response = body(503, outage.code, outage.message)
        if outage.is_repeatable:
            response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
    # Another transaction made the database reject this one: a constraint, a deadlock or a lock.
    is_conflict = isinstance(error, IntegrityError) or (
        isinstance(error, OperationalError)
        # The drivers of PostgreSQL and SQLite have no common exception class for these, so compare
        # messages.
        and any(word in str(error).lower() for word in ("deadlock", "locked"))
    )
    if is_conflict:
        logger.warning(
            "two concurrent changes conflicted in %s", context.get("view"), exc_info=error
        )
        return body(409, "conflict", "Something else changed this at the same time; try again.")
    logger.exception("unexpected error in %s", context.get("view"), exc_info=error)
    return body(500, "server_error", "Something went wrong here; it was logged.")


def body(
    status: int, code: str, message: str, details: dict[str, list[str]] | None = None
) -> Response:
    # Imported here because it loads the serializers of DRF. Pages of the site import only the
    # exception classes of this module.
    from rest_framework.response import Response

    return Response({"error": message, "code": code, "details": details or {}}, status=status)
