"""`POST /api/forms/:slug/submit`: what visitors send."""

from __future__ import annotations

from typing import Any, ClassVar, Final
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from forms.api.definitions import LOCALE, PATHS
from forms.rendering import goal_of
from forms.services.submissions import submit_form
from proofroom.core.actor import Actor, Visitor
from proofroom.core.api.answer import Answer, TextOrNull
from proofroom.core.api.body import StrictJsonParser, body_length, body_object
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.renderers import OneAnswer
from proofroom.core.api.schema import UUID_TEXT, query_parameter
from proofroom.core.api.throttles import count_caller, show_rate_limit
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.website import goals

MAX_BODY_BYTES: Final = 256 * 1024
PARAMETERS: Final = [
    *LOCALE,
    query_parameter(
        "postId",
        "The post whose page the visitor sent it from: it then counts as a conversion of that post.",
        UUID_TEXT,
    ),
]


class FormSubmittedAnswer(Answer):
    """The answer to the visitor."""

    id: UUID
    success_message: str
    redirect_url: TextOrNull


_BODY: Final = {
    "type": "object",
    "description": "Values by the names of the form's fields.",
    "additionalProperties": True,
}
BODY: Final = {
    "application/json": _BODY,
    "application/x-www-form-urlencoded": _BODY,
    "multipart/form-data": _BODY,
}
ANSWER: Final = {
    201: FormSubmittedAnswer,
    303: OpenApiResponse(
        description="To a plain HTML form of a browser, where the form has a redirectUrl."
    ),
}


class SeeOther(HttpResponseRedirect):
    status_code = 303


class SubmitViewSet(ApiViewSet):
    """Anybody may send; no session is looked at, so there is nothing for a forged request to use."""

    authentication_classes = ()
    parser_classes = (StrictJsonParser, FormParser, MultiPartParser)
    content_negotiation_class = OneAnswer  # a browser that accepts pages alone is sent on
    throttle_scope = "public"
    permissions: ClassVar[dict[str, Declared]] = {"submit": PUBLIC}
    path_schemas = PATHS

    @extend_schema(parameters=PARAMETERS, request=BODY, responses=ANSWER)
    def submit(self, request: Request, slug: str) -> HttpResponseBase:
        """Send a form. Only what is accepted counts against the limit of submissions an hour."""
        # Before anything of the body is read.
        if body_length(request) > MAX_BODY_BYTES:
            raise RequestDataTooBig
        # The post that the visitor was shown, where the frontend names it.
        post_id, text = None, request.query_params.get("postId")
        if text is not None:
            try:
                post_id = UUID(text)
            except ValueError:
                raise invalid("postId", "postId must be a UUID.") from None
        values: dict[str, Any]
        if not isinstance(request.data, QueryDict):
            values = body_object(request)
        else:
            for name in request.FILES:
                raise invalid(name[:80], "Files are not taken here.")
            # A name that came twice has a list, which fits no field.
            values = {
                name: sent[0] if len(sent) == 1 else sent for name, sent in request.data.lists()
            }
        receipt = submit_form(
            slug=slug,
            locale=request.query_params.get("locale"),
            values=values,
            actor=Actor(user=Visitor(), via="site"),
            admit=lambda: _count_submission(request),
        )
        if receipt.is_kept and post_id is not None:
            goals.report_goal(request._request, post_id=post_id, goal=goal_of(slug))
        is_page = isinstance(request.data, QueryDict)
        if is_page and receipt.redirect_url and "text/html" in request.META.get("HTTP_ACCEPT", ""):
            return SeeOther(receipt.redirect_url)
        return Response(FormSubmittedAnswer.of(receipt), status=201)


def _count_submission(request: Request) -> None:
    """Count a submission that fits, unless its address is free of limits. Raises for one too many."""
    count = count_caller("forms", request)
    if count is None:
        return
    show_rate_limit(request._request, count)
    if count.is_over:
        raise Throttled(wait=count.wait)
