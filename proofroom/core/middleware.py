"""The middleware of the site, including the Content-Security-Policy and cross-origin access to public responses.

Sessions, CSRF, login, messages and language run only on management paths. Public pages, the delivery API, files and
the sitemap need none of them: reading a session costs a query, and a cookie keeps a response out of shared caches.
Without a session there is nothing that a forged request could use. The classes are subclasses of Django's own, so
that the admin's system checks find them.

`SECURE_CSP`, `CSP` and `csp_override` have the names of Django 6: after upgrading they can be deleted here. There are
no nonces, because no page of this project has an inline script or style.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject
from django.views.decorators.clickjacking import xframe_options_sameorigin

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser


def is_management(path: str) -> bool:
    """Return whether a path belongs to the admin, the management API or a preview (`MANAGEMENT_PREFIXES`)."""
    return path.startswith(settings.MANAGEMENT_PREFIXES) and not path.startswith(
        settings.PUBLIC_PREFIXES
    )


@sync_and_async_middleware
def plain_host(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Remove a trailing dot from the `Host` header.

    Django accepts it, but the site would then have two names and write the second one into URLs.
    """

    def remove_dot(request: HttpRequest) -> None:
        name, colon, port = request.META.get("HTTP_HOST", "").partition(":")
        if name.endswith(".") and not name.endswith(".."):
            request.META["HTTP_HOST"] = f"{name[:-1]}{colon}{port}"

    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            remove_dot(request)
            response: HttpResponseBase = await get_response(request)
            return response

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        remove_dot(request)
        response: HttpResponseBase = get_response(request)
        return response

    return answer


def session_key(request: HttpRequest) -> str:
    """Return the session cookie, or "" if it is missing or not of a form that Django sets.

    PostgreSQL refuses some other forms, such as one with NUL.
    """
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return key if key.isascii() and key.isalnum() else ""


class ManagementMiddleware(MiddlewareMixin):
    """A mixin for Django's middleware classes that skips public requests."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if not is_management(request.path_info):
            return self.get_response(request)
        return super().__call__(request)


class ManagementSessionMiddleware(ManagementMiddleware, SessionMiddleware):
    """Sessions on management paths."""

    def process_request(self, request: HttpRequest) -> None:
        if not session_key(request):
            request.COOKIES.pop(settings.SESSION_COOKIE_NAME, None)
        super().process_request(request)


class AdminLocaleMiddleware(LocaleMiddleware):
    """The reader's language in the admin and in previews; English everywhere else.

    API responses and stored texts must not depend on the caller's language. Public pages take their language from the
    URL.
    """

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(settings.READER_LANGUAGE_PREFIXES):
            super().process_request(request)
        else:
            # The thread may still have the language of its previous request.
            translation.activate(settings.LANGUAGE_CODE)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path_info.startswith(settings.READER_LANGUAGE_PREFIXES):
            response = super().process_response(request, response)
        translation.activate(settings.LANGUAGE_CODE)
        return response


class ManagementCsrfMiddleware(ManagementMiddleware, CsrfViewMiddleware):
    """CSRF protection on management paths."""

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponseForbidden | None:
        if not is_management(request.path_info):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class ManagementAuthenticationMiddleware(ManagementMiddleware, AuthenticationMiddleware):
    """`request.user` on management paths, and `request.loaded_user` once something has read it."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        def load_user() -> AbstractBaseUser | AnonymousUser:
            user = get_user(request)
            set_loaded_user(request, user)
            return user

        request.user = SimpleLazyObject(load_user)  # type: ignore[assignment]  # as in Django


def set_loaded_user(request: HttpRequest, user: AbstractBaseUser | AnonymousUser | None) -> None:
    request.loaded_user = user  # type: ignore[attr-defined]


def loaded_user(request: HttpRequest) -> AbstractBaseUser | AnonymousUser | None:
    """Return the user of a request if it has already been loaded. Makes no query."""
    return getattr(request, "loaded_user", None)


class ManagementMessageMiddleware(ManagementMiddleware, MessageMiddleware):
    """Messages on management paths."""


class AdminInputMiddleware(MiddlewareMixin):
    """Answers 400 if a parameter of the admin contains NUL.

    No browser sends it, and PostgreSQL can neither store nor search it.
    """

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> None:
        # In `process_view`, after the CSRF check, so that an unauthorised body is not read and no
        # body is read twice.
        if request.path_info.startswith("/admin/"):
            for parameters in (request.GET, request.POST):
                for name, values in parameters.lists():
                    if any("\x00" in text for text in (name, *map(str, values))):
                        raise BadRequest("A parameter holds the character NUL.")


Policy = Mapping[str, Sequence[str] | set[str] | str | bool | None]
View = TypeVar("View", bound=Callable[..., Any])


class CSP(StrEnum):
    """Source expressions and header names of the policy."""

    HEADER_ENFORCE = "Content-Security-Policy"
    HEADER_REPORT_ONLY = "Content-Security-Policy-Report-Only"
    NONE = "'none'"
    REPORT_SAMPLE = "'report-sample'"
    SELF = "'self'"
    STRICT_DYNAMIC = "'strict-dynamic'"
    UNSAFE_EVAL = "'unsafe-eval'"
    UNSAFE_HASHES = "'unsafe-hashes'"
    UNSAFE_INLINE = "'unsafe-inline'"
    WASM_UNSAFE_EVAL = "'wasm-unsafe-eval'"


def build_policy(config: Policy) -> str:
    """Return the header's value.

    Directives with `None` or `False` are omitted; `True` adds a directive without sources.
    """
    directives = []
    for directive, sources in config.items():
        if sources is None or sources is False:
            continue
        if sources is True:
            directives.append(directive)
            continue
        listed = [sources] if isinstance(sources, str) else sources
        # The order of a set differs between processes, and a changing header defeats caches.
        ordered = sorted(listed) if isinstance(listed, set) else list(listed)
        if ordered:
            directives.append(" ".join([directive, *map(str, ordered)]))
    return "; ".join(directives)


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Adds the headers to responses that don't have them yet."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        for header, config in (
            (CSP.HEADER_ENFORCE, getattr(response, "csp_config", settings.SECURE_CSP)),
            (CSP.HEADER_REPORT_ONLY, settings.SECURE_CSP_REPORT_ONLY),
        ):
            if config and header not in response:
                response.headers[str(header)] = build_policy(cast("Policy", config))
        return response


def csp_override(config: Policy) -> Callable[[View], View]:
    """Set the policy of one view. An empty policy sends no header."""

    def decorate(view: View) -> View:
        if iscoroutinefunction(view):

            @wraps(view)
            async def asynchronous(*args: Any, **kwargs: Any) -> HttpResponseBase:
                response: HttpResponseBase = await view(*args, **kwargs)
                response.csp_config = config  # type: ignore[attr-defined]  # read by the middleware above
                return response

            return cast("View", asynchronous)

        @wraps(view)
        def synchronous(*args: Any, **kwargs: Any) -> HttpResponseBase:
            response = cast("HttpResponseBase", view(*args, **kwargs))
            response.csp_config = config  # type: ignore[attr-defined]  # as above
            return response

        return cast("View", synchronous)

    return decorate


def allow_admin_frame(view: View) -> View:
    """Allow pages of this site to frame the view, which may neither run scripts nor submit forms.

    All others refuse frames.
    """
    policy: Policy = {
        **settings.SECURE_CSP,
        "script-src": [CSP.NONE],
        "form-action": [CSP.NONE],
        "frame-ancestors": [CSP.SELF],
    }
    return xframe_options_sameorigin(csp_override(policy)(view))


_READ: Final = ("GET", "HEAD")
_WRITE: Final = ("POST",)
OPEN_PATHS: Final = (
    (re.compile(r"/api/public/(?!agents/)"), _READ),
    (re.compile(r"/api/menus/."), _READ),
    (re.compile(r"/api/forms-definitions/."), _READ),
    (re.compile(r"/api/forms/[^/]+/submit\Z"), _WRITE),
    (re.compile(r"/api/public/(analytics/track|resolve)\Z"), _WRITE),
    (re.compile(r"/\.well-known/(oauth-|openid-configuration\Z)"), _READ),
    (re.compile(r"/oauth/(token|register|revoke)\Z"), _WRITE),
)
"""Paths and methods that scripts of other sites may use."""
_EXPOSED_HEADERS: Final = (
    "ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Location"
)
_ALLOWED_HEADERS: Final = "Content-Type, If-None-Match"
_OAUTH_PATH: Final = re.compile(r"/(\.well-known|oauth)/")
_OAUTH_HEADERS: Final = "Content-Type, If-None-Match, Authorization, MCP-Protocol-Version"
"""Clients authenticate at the token endpoint and send their MCP revision when they read metadata."""
# Browsers cap it: Firefox at a day, Chromium at two hours.
_PREFLIGHT_SECONDS: Final = "86400"


class PublicOriginsMiddleware(MiddlewareMixin):
    """Lets scripts of other sites read responses that are public anyway.

    The answer is `*` without credentials, so that browsers refuse to expose responses to a request with a session.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.method != "OPTIONS":
            return None
        wanted = request.headers.get("Access-Control-Request-Method")
        if wanted is None:
            return None
        methods = open_methods(request.path_info)
        if wanted not in methods:
            return None
        return HttpResponse(
            status=204,
            headers={
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Methods": ", ".join(methods),
                "Access-Control-Allow-Headers": (
                    _OAUTH_HEADERS if _OAUTH_PATH.match(request.path_info) else _ALLOWED_HEADERS
                ),
                "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
            },
        )

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.method in open_methods(request.path_info):
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
        return response


def open_methods(path: str) -> list[str]:
    """Return the methods that scripts of other sites may use at a path."""
    return [method for pattern, methods in OPEN_PATHS if pattern.match(path) for method in methods]


STAFF_COOKIE: Final = "cms_staff"
"""Cookie that marks a browser of the staff, without any rights.

Public pages are the same for all visitors and don't read the session, so their scripts use it to decide whether to
show staff tools and whether to count a visit. The tools call the API, which checks the session.
"""


def is_marked(request: HttpRequest) -> bool:
    """Return whether the request comes from a browser of the staff."""
    return request.COOKIES.get(STAFF_COOKIE) == "1"


class StaffMarkerMiddleware(MiddlewareMixin):
    """Keeps the staff cookie in sync with the session on requests that read the session anyway."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        session = getattr(request, "session", None)
        if session is None or not session.accessed:
            return response
        is_signed_in, marked = request.user.is_authenticated, is_marked(request)
        if is_signed_in and not marked:
            # Without HttpOnly, because scripts of public pages read it.
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
