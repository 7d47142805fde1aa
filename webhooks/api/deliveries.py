"""`/api/webhook-deliveries`: what was sent, what came back, and sending it again."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.body import Body, Words
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.query import read_query
from core.api.views import ApiViewSet
from webhooks import presenters, queries
from webhooks.api import schema
from webhooks.services.replay import replay_delivery
from webhooks.showing import shown_to


class DeliveryQuery(Body):
    """Which deliveries are asked for."""

    webhook_id: UUID | None = Field(None, strict=False)
    workflow_id: Words | None = Field(None, max_length=80)
    receiver: Literal["webhook", "workflow", "chat", "reaction"] | None = None
    status: Literal["pending", "sending", "succeeded", "failed", "cancelled"] | None = None
    event: Words | None = Field(None, max_length=60)
    post_id: UUID | None = Field(None, strict=False)


class DeliveryViewSet(ApiViewSet):
    """Deliveries: list, read, send again."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        ("list", "retrieve", "replay"), "webhooks.manage"
    )

    @extend_schema(parameters=schema.DELIVERY_PARAMETERS, responses=schema.DeliveryListSchema)
    def list(self, request: Request) -> Response:
        """Deliveries to webhooks, of workflows, to the chat and of agents' reactions, latest first."""
        page = page_of(request)
        rows = queries.deliveries(**read_query(request, DeliveryQuery).model_dump())
        found = [presenters.delivery(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(responses=schema.DeliveryInFullSchema)
    def retrieve(self, request: Request, delivery_id: str) -> Response:
        """One delivery, with the body that is sent and every call that was made."""
        row = queries.find_delivery(delivery_id)
        shown = shown_to(row, self.actor)
        return Response(presenters.delivery_in_full(row, shown, list(row.tries.all())))

    @extend_schema(request=None, responses={200: schema.DeliverySchema})
    def replay(self, request: Request, delivery_id: str) -> Response:
        """Send a finished delivery again, under the same id."""
        row = queries.find_delivery(delivery_id)
        replay_delivery(delivery_id=row.pk, actor=self.actor)
        return Response(presenters.delivery(queries.find_delivery(row.pk)))
