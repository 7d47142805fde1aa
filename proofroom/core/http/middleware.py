"""Sessions, CSRF, login, messages and language only where people manage content.

Public pages, the delivery API, files and the sitemap need none of them: looking up a session costs a query,
and a cookie keeps an answer out of shared caches. Where they don't run there is no session, so nothing that
a forged request could use. They stay subclasses of Django's own, so that the admin's checks find them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseForbidden, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin


def is_management(path: str) -> bool:
    """Return whether a path belongs to the admin, the management API or a preview (`MANAGEMENT_PREFIXES`)."""
    return path.startswith(settings.MANAGEMENT_PREFIXES) and not path.startswith(
        settings.PUBLIC_PREFIXES
    )


@sync_and_async_middleware
def plain_host(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Takes the dot off a `Host` that ends with one. Django allows what it allows without: the same site would go by
    two names, and write the second into addresses."""

    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            _drop_dot(request)
            response: HttpResponseBase = await get_response(request)
            return response

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        _drop_dot(request)
        response: HttpResponseBase = get_response(request)
        return response

    return answer


def _drop_dot(request: HttpRequest) -> None:
    name, colon, port = request.META.get("HTTP_HOST", "").partition(":")
    if name.endswith(".") and not name.endswith(".."):
        request.META["HTTP_HOST"] = f"{name[:-1]}{colon}{port}"


class ManagementMiddleware(MiddlewareMixin):
    """Put before one of Django's middlewares: passes public requests by it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if not is_management(request.path_info):
            return self.get_response(request)
        return super().__call__(request)


class ManagementSessionMiddleware(ManagementMiddleware, SessionMiddleware):
    """Sessions, for management paths."""


class AdminLocaleMiddleware(LocaleMiddleware):
    """The reader's language in the admin and in previews; English everywhere else.

    What programs read, and what is stored, is the same whoever asks. Public pages take their language from the
    address.
    """

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(settings.READER_LANGUAGE_PREFIXES):
            super().process_request(request)
        else:
            # A thread may still have the language of the reader whom it answered before.
            translation.activate(settings.LANGUAGE_CODE)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path_info.startswith(settings.READER_LANGUAGE_PREFIXES):
            response = super().process_response(request, response)
        translation.activate(settings.LANGUAGE_CODE)
        return response


class ManagementCsrfMiddleware(ManagementMiddleware, CsrfViewMiddleware):
    """CSRF, for management paths."""

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
    """`request.user`, for management paths."""


class ManagementMessageMiddleware(ManagementMiddleware, MessageMiddleware):
    """Messages, for management paths."""


class AdminInputMiddleware(MiddlewareMixin):
    """Answers 400 where a parameter of the admin holds NUL: no browser sends it, and no form field, filter or
    search would store or find it."""

    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> None:
        # Here and not earlier, so that the CSRF check has answered and the body is read at most once.
        if request.path_info.startswith("/admin/") and (
            _holds_nul(request.GET) or _holds_nul(request.POST)
        ):
            raise BadRequest("A parameter holds the character NUL.")


def _holds_nul(parameters: QueryDict) -> bool:
    return any(
        "\x00" in text for name, values in parameters.lists() for text in (name, *map(str, values))
    )
