"""`/api/posts/:id/steps`: the editorial steps of a post."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.store import post_queries
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import UUID_TEXT
from proofroom.core.api.views import ApiViewSet
from proofroom.definitions.step import STEP_NAME_MAX
from proofroom_apps.steps.models import NOTE_MAX
from proofroom_apps.steps.presenters import EditorialStepsAnswer
from proofroom_apps.steps.queries import read_way
from proofroom_apps.steps.services import advance, send_back


class StepMove(Body):
    """`advance` starts the steps, or agrees to the open one. `return` sends the content back, and needs a note."""

    action: Literal["advance", "return"]
    step: Annotated[
        Words | None,
        Field(
            description="For `advance`: the step seen as open. For `return`: where to; absent for the authors.",
            json_schema_extra={"maxLength": STEP_NAME_MAX},
        ),
    ] = None
    digest: Annotated[
        Words | None,
        Field(
            description="For `advance`: that of the content as it was read; 409 if it has changed."
        ),
    ] = None
    note: Annotated[Words | None, Field(json_schema_extra={"maxLength": NOTE_MAX})] = None


class StepViewSet(ApiViewSet):
    """Editorial steps of a post: read them, agree, and send back."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "posts.view", "create": "posts.view"}
    path_schemas: ClassVar = {"post_id": UUID_TEXT}

    @extend_schema(responses=EditorialStepsAnswer)
    def retrieve(self, request: Request, post_id: str) -> Response:
        """Return the editorial steps of a post, and the open one."""
        post = post_queries.require_post(post_id, self.actor)
        return Response(EditorialStepsAnswer.of_way(read_way(post)))

    @extend_schema(request=StepMove, responses={200: EditorialStepsAnswer})
    def create(self, request: Request, post_id: str) -> Response:
        """Start the steps of a post, agree to the open step, or send the content back."""
        move = read_body(request, StepMove)
        step, note = move.step or "", move.note or ""
        if move.action == "advance":
            way = advance(
                post_id=post_id, actor=self.actor, step=step, note=note, digest=move.digest or ""
            )
        else:
            way = send_back(post_id=post_id, actor=self.actor, step=step, note=note)
        return Response(EditorialStepsAnswer.of_way(way))
