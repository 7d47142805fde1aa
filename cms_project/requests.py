"""Requests as the servers make them: everything in them is UTF-8, whatever their content type says.

Django reads a query in the charset that the content type names, and some of those cannot read text at all. What is
kept by address would then be kept for everybody as one caller's charset read it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

_UNREADABLE: Final = "application/octet-stream"


def _read_content_type(meta: MutableMapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The content type and its parameters. One that cannot be read is changed to one that nothing takes."""
    try:
        return parse_header_parameters(meta.get("CONTENT_TYPE", ""))
    except (ValueError, LookupError):
        meta["CONTENT_TYPE"] = _UNREADABLE
        return _UNREADABLE, {}


class Utf8WSGIRequest(WSGIRequest):
    def _set_content_type_params(self, meta: MutableMapping[str, Any]) -> None:
        self.content_type, self.content_params = _read_content_type(meta)


class Utf8ASGIRequest(ASGIRequest):
    def _set_content_type_params(self, meta: MutableMapping[str, Any]) -> None:
        self.content_type, self.content_params = _read_content_type(meta)


class Utf8WSGIHandler(WSGIHandler):
    request_class = Utf8WSGIRequest


class Utf8ASGIHandler(ASGIHandler):
    request_class = Utf8ASGIRequest
