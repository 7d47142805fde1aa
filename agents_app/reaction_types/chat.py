"""Chat messages."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.utils.translation import gettext_lazy
from pydantic import Field, field_validator

from agents_app.definitions.reaction_templates import check_template, fill_text
from agents_app.definitions.reaction_type import ReactionType
from agents_app.models import AgentRun
from proofroom.core.definition_files import DefinitionPart
from proofroom.core.json import Json, JsonObject
from proofroom.webhooks.chat import plain
from proofroom.webhooks.delivery_channels import NothingToSend, OutgoingRequest
from proofroom.webhooks.models import Delivery
from proofroom.webhooks.rules import DeclaredUrl

_CHAT_WORDS_MAX: Final = 500
_OURS: Final = frozenset({"run.url"})
"""Placeholders in chats that contain no user text, so their links stay active."""


class ChatConfig(DefinitionPart):
    """Without `webhookUrl` the target is CHAT_WEBHOOK_URL."""

    webhook_url: DeclaredUrl | None = Field(default=None, repr=False)
    channel: str | None = Field(default=None, max_length=100)
    template: str = Field(min_length=1, max_length=10_000)

    @field_validator("template")
    @classmethod
    def _template_is_sound(cls, template: str) -> str:
        check_template(template)
        return template


class ChatReactionType(ReactionType[ChatConfig]):
    name = "chat"
    label = gettext_lazy("Chat")
    Config = ChatConfig

    def target(self, config: ChatConfig) -> str:
        url = config.webhook_url or settings.CMS_ENV.chat_webhook_url or ""
        return urlsplit(url).hostname or ""

    def build_request(
        self, config: ChatConfig, values: JsonObject, run: AgentRun, delivery: Delivery
    ) -> OutgoingRequest:
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
        # The URL of a chat webhook is a secret: everyone who knows it can post there.
        secrets = (url, path, *path.split("/"))
        return OutgoingRequest(
            url=url, headers={}, body=orjson.dumps(body), secrets=secrets, is_named=False
        )
