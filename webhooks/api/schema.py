"""The OpenAPI descriptions of webhooks and deliveries."""

from __future__ import annotations

from rest_framework import serializers

from core.api.schema import PAGES, UUID_TEXT, MetaSchema, choice, query
from webhooks.models import DeliveryStatus
from webhooks.queries import RECEIVERS

RECEIVER_CHOICES = list(RECEIVERS.items())
DELIVERY_PARAMETERS = [
    query("webhookId", "Deliveries to a webhook.", UUID_TEXT),
    query("workflowId", "Deliveries of a workflow."),
    query("receiver", "Deliveries to a kind of receiver.", choice(*RECEIVERS)),
    query("status", "Status.", choice(*DeliveryStatus.values)),
    query("event", "Name of the event, such as post.published."),
    query("postId", "Deliveries about a post.", UUID_TEXT),
    *PAGES,
]
_TEXTS = serializers.DictField(child=serializers.CharField(allow_blank=True))


class LastDeliverySchema(serializers.Serializer[object]):
    """The latest delivery, in short."""

    id = serializers.UUIDField()
    event = serializers.CharField()
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    statusCode = serializers.IntegerField(allow_null=True)
    createdAt = serializers.DateTimeField()


class WebhookSchema(serializers.Serializer[object]):
    """A webhook. Values of headers are answered as `•••`, which keeps them when sent back; the secret never is."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    types = serializers.ListField(child=serializers.CharField(), help_text="None means all.")
    locales = serializers.ListField(child=serializers.CharField(), help_text="None means all.")
    headers = serializers.DictField(child=serializers.CharField())
    hasSecret = serializers.BooleanField(help_text="Whether it has its own; else AGENT_SECRET.")
    secretRotatesUntil = serializers.DateTimeField(
        allow_null=True, help_text="Until when the secret before signs along."
    )
    active = serializers.BooleanField()
    test = serializers.BooleanField(help_text="Whether it is told of simulated events too.")
    failingSince = serializers.DateTimeField(allow_null=True)
    disabledAt = serializers.DateTimeField(
        allow_null=True, help_text="When it was switched off because the address failed for a day."
    )
    disabledReason = serializers.CharField(allow_null=True)
    lastDelivery = LastDeliverySchema(allow_null=True)
    replaying = serializers.BooleanField(help_text="Whether it is told again of what happened.")
    version = serializers.IntegerField(min_value=1)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class WebhookInFullSchema(WebhookSchema):
    """A webhook, and how many events it has still to be told of again."""

    replayLeft = serializers.IntegerField(min_value=0)


class WebhookListSchema(serializers.Serializer[object]):
    """Webhooks, by name."""

    data = WebhookSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class WebhookGoneSchema(serializers.Serializer[object]):
    """The webhook that was deleted."""

    id = serializers.UUIDField()


class DeliverySchema(serializers.Serializer[object]):
    """One event for one receiver. `attempts` counts since it was last sent again."""

    id = serializers.UUIDField()
    receiver = serializers.ChoiceField(choices=RECEIVER_CHOICES)
    webhookId = serializers.UUIDField(allow_null=True)
    workflowId = serializers.CharField(allow_null=True)
    event = serializers.CharField()
    eventId = serializers.UUIDField(help_text="The `id` of the body: receivers drop doubles by it.")
    postId = serializers.UUIDField(allow_null=True)
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    attempts = serializers.IntegerField(min_value=0)
    nextAttemptAt = serializers.DateTimeField(allow_null=True)
    statusCode = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)


class DeliveryListSchema(serializers.Serializer[object]):
    """Deliveries, latest first."""

    data = DeliverySchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class AttemptSchema(serializers.Serializer[object]):
    """One call. Secrets are left out, and the answer is cut off."""

    number = serializers.IntegerField(min_value=1)
    at = serializers.DateTimeField()
    ms = serializers.IntegerField(min_value=0)
    statusCode = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    requestHeaders = _TEXTS
    responseHeaders = serializers.DictField(child=serializers.CharField(allow_blank=True))
    responseBody = serializers.CharField(allow_blank=True)


class DeliveryInFullSchema(DeliverySchema):
    """A delivery with what is sent and every call. `withheld` says why the body is not shown."""

    withheld = serializers.CharField(allow_null=True)
    body = serializers.CharField(allow_null=True)
    tries = AttemptSchema(many=True)
