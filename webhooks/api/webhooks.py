"""`/api/webhooks`: who is told of what."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.body import Body, Moment, Whole, Words, body_object, check, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import LOCATION, PAGES
from core.api.views import ApiViewSet, expected_version
from webhooks import presenters, queries, rules
from webhooks.api import schema
from webhooks.models import Webhook
from webhooks.services.replay import cancel_replay, replay_since
from webhooks.services.testing import test_webhook
from webhooks.services.webhooks import (
    create_webhook,
    delete_webhook,
    find_webhook,
    update_webhook,
)

_READ_ONLY: Final = (
    "id",
    "hasSecret",
    "secretRotatesUntil",
    "failingSince",
    "disabledAt",
    "disabledReason",
    "lastDelivery",
    "replaying",
    "replayLeft",
    "createdAt",
    "updatedAt",
)
_FEW: Final = 200
"""More than there are events, types or languages."""


class NewWebhook(Body):
    """A webhook. Other keys that a GET answers are ignored."""

    name: Words = Field(min_length=1, max_length=rules.NAME_MAX)
    url: Words = Field(min_length=1, max_length=rules.URL_MAX, description="http or https.")
    events: list[Words] = Field(min_length=1, max_length=_FEW)
    types: list[Words] = Field([], max_length=_FEW, description="Post types; none means all.")
    locales: list[Words] = Field([], max_length=_FEW, description="Languages; none means all.")
    headers: dict[str, Words] = Field({}, description="Sent along; values are never answered.")
    secret: Words = Field(
        "",
        max_length=rules.SECRET_MAX,
        description="Up to 200 characters; empty: AGENT_SECRET signs. Never answered.",
    )
    active: bool = True
    test: bool = Field(False, description="Whether it is told of simulated events too.")


class WebhookChanges(Body):
    """What to change of a webhook; what is absent stays. Other keys that a GET answers are ignored."""

    name: Words | None = Field(None, min_length=1, max_length=rules.NAME_MAX)
    url: Words | None = Field(None, min_length=1, max_length=rules.URL_MAX)
    events: list[Words] | None = Field(None, min_length=1, max_length=_FEW)
    types: list[Words] | None = Field(None, max_length=_FEW)
    locales: list[Words] | None = Field(None, max_length=_FEW)
    headers: dict[str, Words] | None = Field(
        None, description="All of them; `•••` keeps the value of that name."
    )
    secret: Words | None = Field(
        None,
        max_length=rules.SECRET_MAX,
        description="The one before signs along for a day. Empty: AGENT_SECRET signs.",
    )
    end_rotation: bool = Field(False, description="The secret before signs no longer.")
    active: bool | None = None
    test: bool | None = None
    version: Whole | None = Field(None, description="Of the last read; a stale one is 409.")


class ReplaySince(Body):
    """From when on to send again."""

    since: Moment


class WebhookViewSet(ApiViewSet):
    """Webhooks: list, create, read, update, delete; test, and send again."""

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

    @extend_schema(parameters=PAGES, responses=schema.WebhookListSchema)
    def list(self, request: Request) -> Response:
        """Webhooks, by name."""
        page = page_of(request)
        rows = list(queries.webhooks()[page.slice])
        last = queries.last_deliveries(rows)
        found = [presenters.webhook(row, last.get(row.pk)) for row in rows]
        return Response(page.envelope(found, Webhook.objects.count()))

    @extend_schema(
        request=NewWebhook, responses={201: schema.WebhookInFullSchema}, parameters=[LOCATION]
    )
    def create(self, request: Request) -> Response:
        """Have an address told of events."""
        body = check(_written(request, "version"), NewWebhook)
        row = create_webhook(actor=self.actor, **body.model_dump())
        location = {"Location": f"/api/webhooks/{row.pk}"}
        return Response(_presented(row), status=201, headers=location)

    @extend_schema(responses=schema.WebhookInFullSchema)
    def retrieve(self, request: Request, webhook_id: str) -> Response:
        """One webhook."""
        return Response(_presented(find_webhook(webhook_id)))

    @extend_schema(request=WebhookChanges, responses=schema.WebhookInFullSchema)
    def partial_update(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook; what is absent stays. A `version` or `If-Match` that is not current is 409."""
        changes = check(_written(request), WebhookChanges).model_dump(exclude_unset=True)
        version = expected_version(request, changes.pop("version", None))
        row = update_webhook(
            webhook_id=webhook_id, actor=self.actor, expected_version=version, **changes
        )
        return Response(_presented(row))

    @extend_schema(responses={200: schema.WebhookGoneSchema})
    def destroy(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook and its deliveries."""
        return Response({"id": str(delete_webhook(webhook_id=webhook_id, actor=self.actor))})

    @extend_schema(request=None, responses={200: schema.DeliverySchema})
    def test(self, request: Request, webhook_id: str) -> Response:
        """Send a sample event to this webhook only, active or not."""
        row = test_webhook(webhook_id=find_webhook(webhook_id).pk, actor=self.actor)
        return Response(presenters.delivery(queries.find_delivery(row.pk)))

    @extend_schema(request=ReplaySince, responses={200: schema.WebhookInFullSchema})
    def replay(self, request: Request, webhook_id: str) -> Response:
        """Send everything since a moment again, also what happened while the webhook was off."""
        row = find_webhook(webhook_id)
        body = read_body(request, ReplaySince)
        replay_since(webhook_id=row.pk, since=body.since, actor=self.actor)
        return Response(_presented(find_webhook(row.pk)))

    @extend_schema(request=None, responses={200: schema.WebhookInFullSchema})
    def cancel_replay(self, request: Request, webhook_id: str) -> Response:
        """Send no more of it again; what is queued already is sent."""
        row = find_webhook(webhook_id)
        cancel_replay(webhook_id=row.pk, actor=self.actor)
        return Response(_presented(find_webhook(row.pk)))


def _presented(row: Webhook) -> dict[str, Any]:
    last = row.deliveries.order_by("-created_at").first()
    return presenters.webhook_in_full(row, last)


def _written(request: Request, *more: str) -> dict[str, Any]:
    left_out = {*_READ_ONLY, *more}
    return {name: value for name, value in body_object(request).items() if name not in left_out}
