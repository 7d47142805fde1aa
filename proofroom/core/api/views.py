"""Base classes of all endpoints."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from proofroom.core.actor import Actor
from proofroom.core.api.body import dumps
from proofroom.core.api.django_request import DJANGO_REQUEST, django_request
from proofroom.core.api.permissions import Declared, DeclaredPermission, actor_of
from proofroom.core.api.query import refuse_unknown_parameters
from proofroom.core.errors import invalid

_CACHEABLE_STATUSES = frozenset({200, 304, 404, 422})
"""Statuses that are the same for all callers of a URL.

Other errors are about one call, so caches must not store them.
"""


class ThrottleFirstView(APIView):
    """A view that counts a call before it checks permissions, because refused calls cost as much as answered ones.

    Every response has the headers of the rate limit.
    """

    def get_parser_context(self, http_request: HttpRequest) -> dict[str, Any]:
        return {**super().get_parser_context(http_request), DJANGO_REQUEST: http_request}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        refusal: APIException | None = None
        try:
            # Reading it runs the authentication.
            _ = request.user
        except (
            APIException
        ) as error:  # a wrong credential counts as anonymous; it is answered below
            refusal = error
        # `super()`, because this class's own method does nothing.
        super().check_throttles(request)
        if refusal is not None:
            raise refusal
        super().initial(request, *args, **kwargs)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `initial` has already counted the call."""

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(django_request(request), "rate_limit_headers", {}).items():
            final[name] = value
        return final


class ApiViewSet(ThrottleFirstView, ViewSet):
    """Management endpoints: declared permissions, rate-limit headers, `no-store`, optional ETags.

    `permissions` declares the access to each action. Actions in `conditional` answer with an ETag and 304, actions in
    `files` with a file that no renderer produces.
    """

    permission_classes = (DeclaredPermission,)
    permissions: ClassVar[dict[str, Declared]] = {}
    conditional: ClassVar[frozenset[str]] = frozenset()
    files: ClassVar[frozenset[str]] = frozenset()
    cache_control: ClassVar[str] = "no-store"

    @property
    def actor(self) -> Actor:
        return actor_of(self.request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        # Without an action the URL doesn't support the method, and DRF answers 405.
        if request.method in ("GET", "HEAD") and self.action is not None:
            refuse_unknown_parameters(request, self)

    def perform_content_negotiation(
        self, request: Request, force: bool = False
    ) -> tuple[BaseRenderer, str]:
        return super().perform_content_negotiation(request, force or self.action in self.files)

    def finalize_response(  # type: ignore[override]  # a plain HttpResponse is allowed, too
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if self.action in self.conditional and isinstance(response, Response):
            response = self._conditional(request, response)
        response = super().finalize_response(request, response, *args, **kwargs)
        if not response.has_header("Cache-Control"):
            # Caches store answers by their address, which does not name the body of a write.
            is_read = request.method in ("GET", "HEAD")
            is_cacheable = is_read and response.status_code in _CACHEABLE_STATUSES
            response["Cache-Control"] = self.cache_control if is_cacheable else "no-store"
        return response

    def _conditional(self, request: Request, response: Response) -> HttpResponseBase:
        if response.status_code != 200 or request.method not in ("GET", "HEAD"):
            return response
        body = dumps(response.data)
        data = response.data
        version = data.get("version", 0) if isinstance(data, dict) else getattr(data, "version", 0)
        etag = f'"{version}.{hashlib.sha256(body).hexdigest()[:20]}"'
        given = [
            # Compressing proxies turn ETags into weak ones.
            part.strip().removeprefix("W/")
            for part in request.META.get("HTTP_IF_NONE_MATCH", "").split(",")
        ]
        plain: HttpResponse
        if etag in given or "*" in given:
            plain = HttpResponse(status=304)
        else:
            plain = HttpResponse(body, content_type="application/json")
        plain["ETag"] = etag
        # The answer depends on the caller: only a private cache may store it, and must revalidate
        # it.
        plain["Cache-Control"] = "private, no-cache"
        patch_vary_headers(plain, ["Cookie", "Authorization"])
        return plain


def version_of_body(given: object) -> int | None:
    """Return the version in a body, if there is one. Raises `RuleViolation` for other values."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise invalid("version", "version must be the whole number of the last read.")
    return given


def expected_version(request: Request, given: object = None) -> int | None:
    """Return the version that the caller has read, from `version` in the body or from an ETag in `If-Match`."""
    if given is not None:
        return version_of_body(given)
    header = request.META.get("HTTP_IF_MATCH", "").strip().removeprefix("W/").strip('"')
    if not header or header == "*":
        return None
    # Our ETags begin with the version, see `_conditional`.
    number = header.split(".")[0]
    # -1 equals no version: an unknown ETag must be a conflict, not an unconditional write.
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
