"""Calls are counted before anything else is asked about them."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class CountedFirst(APIView):
    """A view that counts a call before it asks what the caller may: refused calls cost as much as answered ones.

    Every answer carries what the limit leaves.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        refusal = _wrong_credential(request)
        self._count(request)
        if refusal is not None:
            raise refusal
        super().initial(request, *args, **kwargs)

    def _count(self, request: Request) -> None:
        super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Done already."""

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(request._request, "rate_limit_headers", {}).items():
            final[name] = value
        return final


def _wrong_credential(request: Request) -> APIException | None:
    """Find out who calls. A wrong credential leaves the request anonymous, and is answered later."""
    try:
        _ = request.user
    except APIException as error:
        return error
    return None
