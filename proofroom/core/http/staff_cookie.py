"""A cookie that says "somebody of the staff uses this browser", and nothing else.

Pages of the site are the same for everybody and look at no session, so their scripts have to know by themselves
whether to offer staff what only staff may use, and whether a visit counts. It opens nothing: what is offered asks
the API, which looks at the session.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

STAFF_COOKIE: Final = "cms_staff"


def is_marked(request: HttpRequest) -> bool:
    """Return whether the call comes from a browser of somebody of the staff."""
    return request.COOKIES.get(STAFF_COOKIE) == "1"


class StaffMarkerMiddleware(MiddlewareMixin):
    """Keeps the cookie in step with the session, wherever somebody looked at the session anyway."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        session = getattr(request, "session", None)
        if session is None or not session.accessed:
            return response
        is_signed_in, marked = request.user.is_authenticated, is_marked(request)
        if is_signed_in and not marked:
            response.set_cookie(
                STAFF_COOKIE,
                "1",
                max_age=settings.SESSION_COOKIE_AGE,
                secure=settings.SESSION_COOKIE_SECURE,
                samesite="Lax",
            )
        elif marked and not is_signed_in:
            response.delete_cookie(STAFF_COOKIE, samesite="Lax")
        return response
