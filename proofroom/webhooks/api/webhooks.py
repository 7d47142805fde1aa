"""`/api/webhooks`: webhooks, their tests and replays."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.body import Body, Moment, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import LOCATION, PAGES
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.webhooks import queries
from proofroom.webhooks.api.deliveries import DeliveryAnswer
from proofroom.webhooks.models import Webhook
from proofroom.webhooks.models.webhook import (
    NewWebhook,
    WebhookAnswer,
    WebhookChanges,
    WebhookInFullAnswer,
)
from proofroom.webhooks.services.replay import cancel_replay, replay_since
from proofroom.webhooks.services.test_calls import test_webhook
from proofroom.webhooks.services.webhooks import (
    create_webhook,
    delete_webhook,
    find_webhook,
    update_webhook,
)


class WebhookGoneAnswer(Answer):
    """The webhook that was deleted."""

    id: UUID


class ReplaySince(Body):
    """The start time of a replay."""

    since: Moment


class WebhookViewSet(ApiViewSet):
    """Webhooks: list, create, read, update, delete; test and replay."""

    permissions: ClassVar[dict[str, Declared]] = dict.fromkeys(
        (
            "list",
            "create",
            "retrieve",
            "partial_update",
            "destroy",
            "test",
            "replay",
            "cancel_replay",
        ),
        "webhooks.manage",
    )
    conditional: ClassVar[frozenset[str]] = frozenset({"retrieve"})

    @extend_schema(parameters=PAGES, responses=list_of(WebhookAnswer, "Webhooks, by name."))
    def list(self, request: Request) -> Response:
        """Webhooks, by name."""
        page = page_of(request)
        rows = queries.load_last_deliveries(queries.webhooks()[page.slice])
        answers = [WebhookAnswer.model_validate(row) for row in rows]
        return Response(page.envelope(answers, Webhook.objects.count()))

    @extend_schema(request=NewWebhook, responses={201: WebhookInFullAnswer}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Register an address for events."""
        row = create_webhook(actor=self.actor, webhook=read_body(request, NewWebhook))
        location = {"Location": f"/api/webhooks/{row.pk}"}
        return Response(answer_in_full(row), status=201, headers=location)

    @extend_schema(responses=WebhookInFullAnswer)
    def retrieve(self, request: Request, webhook_id: str) -> Response:
        """One webhook."""
        return Response(answer_in_full(find_webhook(webhook_id)))

    @extend_schema(request=WebhookChanges, responses=WebhookInFullAnswer)
    def partial_update(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook; absent fields stay unchanged. An outdated `version` or `If-Match` answers 409."""
        changes = read_body(request, WebhookChanges)
        changes.version = expected_version(request, changes.version)
        row = update_webhook(webhook_id=webhook_id, actor=self.actor, changes=changes)
        return Response(answer_in_full(row))

    @extend_schema(responses={200: WebhookGoneAnswer})
    def destroy(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook and its deliveries."""
        return Response({"id": str(delete_webhook(webhook_id=webhook_id, actor=self.actor))})

    @extend_schema(request=None, responses={200: DeliveryAnswer})
    def test(self, request: Request, webhook_id: str) -> Response:
        """Send a sample event to this webhook only, active or not."""
        row = test_webhook(webhook_id=find_webhook(webhook_id).pk, actor=self.actor)
        return Response(DeliveryAnswer.model_validate(queries.find_delivery(row.pk)))

    @extend_schema(request=ReplaySince, responses={200: WebhookInFullAnswer})
    def replay(self, request: Request, webhook_id: str) -> Response:
        """Send all events since a time again, including events while the webhook was off."""
        row = find_webhook(webhook_id)
        body = read_body(request, ReplaySince)
        replay_since(webhook_id=row.pk, since=body.since, actor=self.actor)
        return Response(answer_in_full(find_webhook(row.pk)))

    @extend_schema(request=None, responses={200: WebhookInFullAnswer})
    def cancel_replay(self, request: Request, webhook_id: str) -> Response:
        """Stop a replay; queued deliveries are still sent."""
        row = find_webhook(webhook_id)
        cancel_replay(webhook_id=row.pk, actor=self.actor)
        return Response(answer_in_full(find_webhook(row.pk)))


def answer_in_full(row: Webhook) -> WebhookInFullAnswer:
    """Return a webhook with its last delivery and the number of events left to replay."""
    row.last_delivery = row.deliveries.order_by("-created_at").first()
    return WebhookInFullAnswer.model_validate(row)
