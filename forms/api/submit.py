"""`POST /api/forms/:slug/submit`: what visitors send."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from forms.api import schema
from forms.rendering import goal_of
from forms.services.submissions import submit_form
from proofroom.core.actor import Actor, Visitor
from proofroom.core.api.body import body_length, body_object
from proofroom.core.api.parsers import StrictJsonParser
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.renderers import OneAnswer
from proofroom.core.api.throttles import HitCount, client_address, is_allowed_freely
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.website import goals

MOST_BYTES = 256 * 1024


class SeeOther(HttpResponseRedirect):
    status_code = 303


class SubmitViewSet(ApiViewSet):
    """Anybody may send; no session is looked at, so there is nothing for a forged request to use."""

    authentication_classes = ()
    parser_classes = (StrictJsonParser, FormParser, MultiPartParser)
    content_negotiation_class = OneAnswer  # a browser that accepts pages alone is sent on
    throttle_scope = "public"
    permissions: ClassVar[dict[str, Declared]] = {"submit": PUBLIC}
    path_schemas = schema.PATHS

    @extend_schema(parameters=schema.SUBMIT, request=schema.ANSWERS, responses=schema.SUBMITTED)
    def submit(self, request: Request, slug: str) -> HttpResponseBase:
        """Send a form. Only what is accepted counts against the limit of submissions an hour."""
        # Before anything of the body is read.
        if body_length(request) > MOST_BYTES:
            raise RequestDataTooBig
        shown = _post_of(request)
        is_page = isinstance(request.data, QueryDict)
        told = submit_form(
            slug=slug,
            locale=request.query_params.get("locale"),
            values=_values(request),
            actor=Actor(user=Visitor(), via="site"),
            admit=lambda: _admit(request),
        )
        if told.is_kept and shown is not None:
            goals.report_goal(request._request, post_id=shown, goal=goal_of(slug))
        if is_page and told.redirect_url and "text/html" in request.META.get("HTTP_ACCEPT", ""):
            return SeeOther(told.redirect_url)
        return Response(schema.FormSubmittedAnswer.model_validate(told), status=201)


def _post_of(request: Request) -> UUID | None:
    """The post that the visitor was shown, where the frontend names it."""
    text = request.query_params.get("postId")
    if text is None:
        return None
    try:
        found = UUID(text)
    except ValueError:
        raise invalid("postId", "postId must be a UUID.") from None
    return found


def _values(request: Request) -> dict[str, Any]:
    """The values sent, as JSON or as a page's form; a name that came twice has a list, which fits no field."""
    if not isinstance(request.data, QueryDict):
        return body_object(request)
    for name in request.FILES:
        raise invalid(name[:80], "Files are not taken here.")
    return {
        name: values[0] if len(values) == 1 else values for name, values in request.data.lists()
    }


def _admit(request: Request) -> None:
    """Count a submission that fits, unless its address is free of limits. Raises for one too many."""
    address = client_address(request)
    if is_allowed_freely(address):
        return
    count = HitCount("forms", address)
    request._request.rate_limit_headers = count.headers  # type: ignore[attr-defined]
    if count.is_over:
        raise Throttled(wait=count.wait)
