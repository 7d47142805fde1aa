"""`/api/schema/` and `/api/docs/`: the description of the API, for machines and for people. Both are public."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from proofroom.core.api.counted_calls import CountedFirst
from proofroom.core.api.reference_page import document, document_text, page
from proofroom.core.api.renderers import OneAnswer, dumps

CACHE_CONTROL = "public, max-age=300"


class _DescriptionView(CountedFirst):
    # No account is looked at: what is answered is the same for all.
    authentication_classes = ()
    permission_classes = ()
    content_negotiation_class = OneAnswer


@extend_schema(exclude=True)
class SchemaView(_DescriptionView):
    """The OpenAPI document: YAML, or JSON with `?format=json`."""

    def get(self, request: Request) -> HttpResponse:
        if request.query_params.get("format") == "json":
            return _answer(dumps(document()), "application/vnd.oai.openapi+json")
        return _answer(document_text(), "application/vnd.oai.openapi")


@extend_schema(exclude=True)
class ReferenceView(_DescriptionView):
    """The reference as a page."""

    def get(self, request: Request) -> HttpResponse:
        return _answer(_reference(), "text/html")


@cache
def _reference() -> str:
    """Made once per process, as what it shows is: laying out every operation takes most of a second."""
    return render_to_string("reference/index.html", page())


def _answer(body: Any, content_type: str) -> HttpResponse:
    return HttpResponse(
        body,
        content_type=f"{content_type}; charset=utf-8",
        headers={"Cache-Control": CACHE_CONTROL},
    )
