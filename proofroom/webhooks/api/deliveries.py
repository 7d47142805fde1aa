"""`/api/webhook-deliveries`: deliveries, their calls, and resending."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import AliasPath, Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, TextOrNull, list_of, one_of
from proofroom.core.api.body import Body, Words
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import read_query
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.webhooks import queries
from proofroom.webhooks.models import DeliveryStatus
from proofroom.webhooks.services.replay import replay_delivery

DELIVERY_PARAMETERS: Final = [
    query_parameter("webhookId", "Deliveries to a webhook.", UUID_TEXT),
    query_parameter("workflowId", "Deliveries of a workflow."),
    query_parameter(
        "receiver", "Deliveries to a kind of receiver.", choice_schema(*queries.RECEIVERS)
    ),
    query_parameter("status", "Status.", choice_schema(*DeliveryStatus.values)),
    query_parameter("event", "Name of the event, such as post.published."),
    query_parameter("postId", "Deliveries about a post.", UUID_TEXT),
    *PAGES,
]


class DeliveryAnswer(Answer):
    """One event for one receiver. `attempts` counts since the last replay."""

    id: UUID
    receiver: Annotated[str, one_of(queries.RECEIVERS)]
    webhook_id: UUID | None
    workflow_id: TextOrNull
    event: str = Field(validation_alias="event_name")
    event_id: UUID = Field(
        validation_alias=AliasPath("event", "uid"),
        description="The `id` in the body, by which receivers detect duplicates.",
    )
    post_id: UUID | None
    status: Annotated[str, one_of(DeliveryStatus.values)]
    attempts: int = Field(ge=0)
    next_attempt_at: datetime | None
    status_code: int | None = Field(validation_alias="last_status_code")
    error: TextOrNull = Field(validation_alias="last_error")
    created_at: datetime
    finished_at: datetime | None


class AttemptAnswer(Answer):
    """One call. Secrets are left out, the response is truncated."""

    number: int = Field(ge=1)
    at: datetime
    ms: int = Field(ge=0)
    status_code: int | None
    error: TextOrNull
    request_headers: dict[str, str]
    response_headers: dict[str, str]
    response_body: str


class DeliveryInFullAnswer(DeliveryAnswer):
    """A delivery with its body and all calls. `withheld`: why the body is hidden."""

    withheld: str | None
    body: str | None
    tries: list[AttemptAnswer]


class DeliveryQuery(Body):
    """Filters of the list."""

    webhook_id: UUID | None = Field(None, strict=False)
    workflow_id: Words | None = Field(None, max_length=80)
    receiver: Literal["webhook", "workflow", "chat", "reaction"] | None = None
    status: DeliveryStatus | None = Field(None, strict=False)
    event: Words | None = Field(None, max_length=60)
    post_id: UUID | None = Field(None, strict=False)


class DeliveryViewSet(ApiViewSet):
    """Deliveries: list, read, send again."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "retrieve", "replay"), "webhooks.manage"
    )

    @extend_schema(
        parameters=DELIVERY_PARAMETERS,
        responses=list_of(DeliveryAnswer, "Deliveries, latest first."),
    )
    def list(self, request: Request) -> Response:
        """List deliveries to webhooks, workflows, the chat and agents' reactions, latest first."""
        page = page_of(request)
        rows = queries.deliveries(**read_query(request, DeliveryQuery).model_dump())
        found = [DeliveryAnswer.model_validate(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(responses=DeliveryInFullAnswer)
    def retrieve(self, request: Request, delivery_id: str) -> Response:
        """Return a delivery, with its body and all calls."""
        row = queries.find_delivery(delivery_id)
        visible = queries.visible_request(row, self.actor)
        tries = [AttemptAnswer.model_validate(attempt) for attempt in row.tries.all()]
        if visible.withheld is not None:
            for attempt in tries:  # a receiver's response may repeat the request
                attempt.response_headers, attempt.response_body = {}, ""
        answer = DeliveryInFullAnswer(
            **DeliveryAnswer.model_validate(row).model_dump(),
            withheld=visible.withheld,
            body=visible.body,
            tries=tries,
        )
        return Response(answer)

    @extend_schema(request=None, responses={200: DeliveryAnswer})
    def replay(self, request: Request, delivery_id: str) -> Response:
        """Send a finished delivery again, with the same id."""
        row = queries.find_delivery(delivery_id)
        replay_delivery(delivery_id=row.pk, actor=self.actor)
        return Response(DeliveryAnswer.model_validate(queries.find_delivery(row.pk)))
