"""The base of every endpoint."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from proofroom.core.actor import Actor
from proofroom.core.api.body import dumps
from proofroom.core.api.django_request import django_request
from proofroom.core.api.permissions import Declared, DeclaredPermission, actor_of
from proofroom.core.api.query import refuse_unknown_parameters
from proofroom.core.errors import invalid

_SAME_FOR_ALL = frozenset({200, 304, 404, 422})
"""What an address answers every caller; other refusals are about one call, and no cache may tell them on."""


class CountedFirst(APIView):
    """A view that counts a call before it asks what the caller may: refused calls cost as much as answered ones.

    Every answer carries what the limit leaves.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        refusal: APIException | None = None
        try:
            _ = request.user
        except APIException as error:  # a wrong credential: counted as anonymous, and answered then
            refusal = error
        super().check_throttles(request)
        if refusal is not None:
            raise refusal
        super().initial(request, *args, **kwargs)

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `initial` has counted the call."""

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(django_request(request), "rate_limit_headers", {}).items():
            final[name] = value
        return final


class ApiViewSet(CountedFirst, ViewSet):
    """Management endpoints: declared permissions, rate-limit headers, `no-store`, ETags where asked for.

    `permissions` names for each action who may call it. Actions in `conditional` answer an ETag and 304, those in
    `files` a file whose type no renderer makes.
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
        # No action: the address does not answer the method.
        if request.method in ("GET", "HEAD") and self.action is not None:
            refuse_unknown_parameters(request, self)

    def perform_content_negotiation(
        self, request: Request, force: bool = False
    ) -> tuple[BaseRenderer, str]:
        return super().perform_content_negotiation(request, force or self.action in self.files)

    def finalize_response(  # type: ignore[override]  # a plain HttpResponse passes as well
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if self.action in self.conditional and isinstance(response, Response):
            response = self._conditional(request, response)
        response = super().finalize_response(request, response, *args, **kwargs)
        if not response.has_header("Cache-Control"):
            is_told_again = response.status_code in _SAME_FOR_ALL
            response["Cache-Control"] = self.cache_control if is_told_again else "no-store"
        return response

    def _conditional(self, request: Request, response: Response) -> HttpResponseBase:
        if response.status_code != 200 or request.method not in ("GET", "HEAD"):
            return response
        body = dumps(response.data)
        data = response.data
        version = data.get("version", 0) if isinstance(data, dict) else getattr(data, "version", 0)
        etag = f'"{version}.{hashlib.sha256(body).hexdigest()[:20]}"'
        given = [
            part.strip().removeprefix("W/")
            for part in request.META.get("HTTP_IF_NONE_MATCH", "").split(",")
        ]
        plain: HttpResponse
        if etag in given or "*" in given:
            plain = HttpResponse(status=304)
        else:
            plain = HttpResponse(body, content_type="application/json")
        plain["ETag"] = etag
        # The answer depends on who asks; a private cache may keep it and must ask again.
        plain["Cache-Control"] = "private, no-cache"
        patch_vary_headers(plain, ["Cookie", "Authorization"])
        return plain


def version_of_body(given: object) -> int | None:
    """The version that a body names, if it names one."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise invalid("version", "version must be the whole number of the last read.")
    return given


def expected_version(request: Request, given: object = None) -> int | None:
    """The version a writer read, from the body's `version` or from `If-Match` with one of our ETags."""
    if given is not None:
        return version_of_body(given)
    header = request.META.get("HTTP_IF_MATCH", "").strip().removeprefix("W/").strip('"')
    if not header or header == "*":
        return None
    number = header.split(".")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
