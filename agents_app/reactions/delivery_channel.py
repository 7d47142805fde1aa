"""The lanes of reactions that call other systems, `reaction:<agent>:<place>`: each has its own attempts and order."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from agents_app.definitions.files import get_agent
from agents_app.definitions.reactions import (
    ChatConfig,
    ChatReaction,
    Reaction,
    WebhookConfig,
    WebhookReaction,
)
from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import only_enabled
from agents_app.models import AgentRun
from agents_app.reactions.template_values import is_forgotten, run_of, values_of
from agents_app.reactions.templates import JSON_TYPE, fill_body, fill_text
from proofroom.core.json import Json, JsonObject
from proofroom.webhooks import delivery_channels
from proofroom.webhooks.automation.templates import filled
from proofroom.webhooks.chat import plain
from proofroom.webhooks.delivery_channels import NothingToSend, OutgoingRequest, shared_keys
from proofroom.webhooks.models import Delivery, DeliveryStatus

CHANNEL_PREFIX: Final = "reaction"
REACTION_GONE_MESSAGE: Final = (
    "The reaction is not in the agent's file any more, or the file cannot be read."
)
AGENT_OFF_MESSAGE: Final = "The agent is switched off."
_BODY_MAX: Final = 1_000_000
_CHAT_WORDS_MAX: Final = 500
_OURS: Final = frozenset({"run.url"})
"""Placeholders of a chat that hold no word of anybody: their addresses work."""


def channel_of_reaction(agent_id: str, number: int) -> str:
    return f"{CHANNEL_PREFIX}:{agent_id}:{number}"


def reaction_at(agent: AgentDefinition, number: int) -> Reaction | None:
    """The reaction at a place of the file, counted from 1."""
    return agent.reactions[number - 1] if 1 <= number <= len(agent.reactions) else None


class ReactionChannel:
    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """The request as the file of now makes it of the run. Raises `NothingToSend`."""
        run = run_of(delivery.event)
        if run is None:
            raise NothingToSend("The run was deleted.")
        if is_forgotten(delivery.event, run):
            raise NothingToSend("The words of this event were deleted.")
        _, agent_id, number = delivery.lane.split(":")
        agent = get_agent(agent_id)
        reaction = reaction_at(agent, int(number)) if agent is not None else None
        if agent is None or reaction is None:
            raise NothingToSend(REACTION_GONE_MESSAGE)
        # What was sent stays to be read.
        is_to_be_sent = delivery.status in (DeliveryStatus.PENDING, DeliveryStatus.SENDING)
        if is_to_be_sent and not only_enabled([agent]):
            raise NothingToSend(AGENT_OFF_MESSAGE)
        if isinstance(reaction, WebhookReaction):
            call = webhook_request(reaction.config, values_of(run, agent), delivery, run)
        elif isinstance(reaction, ChatReaction):
            call = chat_request(reaction.config, values_of(run, agent))
        else:
            raise NothingToSend(REACTION_GONE_MESSAGE)
        if len(call.body) > _BODY_MAX:
            raise NothingToSend(
                f"What the reaction makes of this run has over {_BODY_MAX:,} bytes."
            )
        return call


def webhook_request(
    config: WebhookConfig, values: JsonObject, delivery: Delivery, run: AgentRun
) -> OutgoingRequest:
    body, content_type = b"", JSON_TYPE
    if config.body_template is not None:
        body, content_type = fill_body(config.body_template, values)
    elif config.method not in ("GET", "DELETE"):
        body = delivery_channels.encode_body(
            {**delivery_channels.event_body(delivery.event), "data": {**values}}
        )
    secrets: JsonObject = {"secret": dict(settings.CMS_ENV.workflow_secrets)}
    return OutgoingRequest(
        url=config.url,
        method=config.method,
        headers={name: str(filled(value, secrets) or "") for name, value in config.headers.items()},
        body=body,
        content_type=content_type,
        secrets=tuple(settings.CMS_ENV.workflow_secrets.values()),
        keys=shared_keys(),
        extra_headers={"X-Agent-Run": str(run.pk)},
    )


def chat_request(config: ChatConfig, values: JsonObject) -> OutgoingRequest:
    url = config.webhook_url or settings.CMS_ENV.chat_webhook_url
    if not url:
        raise NothingToSend("The reaction has no webhookUrl, and CHAT_WEBHOOK_URL is not set.")
    text = fill_text(
        config.template,
        values,
        lambda path, words: words if path in _OURS else plain(words, _CHAT_WORDS_MAX),
    )
    body: dict[str, Json] = {"text": text}
    if config.channel:
        body["channel"] = config.channel
    path = urlsplit(url).path
    # Whoever knows the address of a chat can write there.
    secrets = (url, path, *path.split("/"))
    return OutgoingRequest(
        url=url, headers={}, body=orjson.dumps(body), secrets=secrets, is_named=False
    )
