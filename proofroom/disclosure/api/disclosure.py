"""`/api/settings/disclosure`: the disclosure of AI work to visitors."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.disclosure.models import TYPE_MAX, Show
from proofroom.disclosure.services import PERMISSION, change_disclosure, load_disclosure

MAX_TYPES = 200


class DisclosureAnswer(Answer):
    """The post types that disclose AI work to visitors, and where."""

    types: list[str]
    show: Annotated[str, one_of(Show.values)]


class DisclosureChanges(Body, answered_by=DisclosureAnswer):
    """Absent keys stay unchanged."""

    types: (
        Annotated[list[Annotated[Words, Field(max_length=TYPE_MAX)]], Field(max_length=MAX_TYPES)]
        | None
    ) = None
    show: Annotated[str, one_of(Show.values)] | None = None


class DisclosureViewSet(ApiViewSet):
    """The disclosure of AI work to visitors."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PERMISSION, "update": PERMISSION}

    @extend_schema(responses=DisclosureAnswer)
    def retrieve(self, request: Request) -> Response:
        """Which post types disclose AI work, and where."""
        return Response(DisclosureAnswer.model_validate(load_disclosure()))

    @extend_schema(request=DisclosureChanges, responses=DisclosureAnswer)
    def update(self, request: Request) -> Response:
        """Change the disclosure of AI work. Pages show it at once."""
        body = read_body(request, DisclosureChanges)
        done = change_disclosure(actor=self.actor, types=body.types, show=body.show)
        return Response(DisclosureAnswer.model_validate(done))
