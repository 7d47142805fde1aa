"""Webhook calls with a body from the agent's file, or the whole event."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy
from pydantic import Field, field_validator, model_validator

from agents_app.definitions.reaction_templates import JSON_TYPE, fill_body, find_body_fault
from agents_app.definitions.reaction_type import ReactionType
from agents_app.models import AgentRun
from proofroom.core.definition_files import DefinitionPart
from proofroom.core.json import JsonObject, sorted_json
from proofroom.webhooks import delivery_channels
from proofroom.webhooks.delivery_channels import OutgoingRequest
from proofroom.webhooks.models import Delivery
from proofroom.webhooks.placeholders import filled
from proofroom.webhooks.rules import DeclaredHeaders, DeclaredUrl
from proofroom.webhooks.signatures import shared_keys


class WebhookConfig(DefinitionPart):
    url: DeclaredUrl = Field(repr=False)
    method: Literal["POST", "PUT", "PATCH", "GET", "DELETE"] = "POST"
    headers: DeclaredHeaders = Field(default_factory=dict, repr=False)
    body_template: str | None = Field(default=None, max_length=100_000)

    @field_validator("body_template")
    @classmethod
    def _body_is_sound(cls, template: str | None) -> str | None:
        fault = find_body_fault(template) if template is not None else ""
        if fault:
            raise ValueError(fault)
        return template

    @model_validator(mode="after")
    def _body_fits_the_method(self) -> WebhookConfig:
        if self.method in ("GET", "DELETE") and self.body_template is not None:
            raise ValueError(f"the method {self.method} sends no body, so remove bodyTemplate")
        return self


class WebhookReactionType(ReactionType[WebhookConfig]):
    name = "webhook"
    label = gettext_lazy("Webhook")
    Config = WebhookConfig

    def target(self, config: WebhookConfig) -> str:
        return urlsplit(config.url).hostname or ""

    def build_request(
        self, config: WebhookConfig, values: JsonObject, run: AgentRun, delivery: Delivery
    ) -> OutgoingRequest:
        body, content_type = b"", JSON_TYPE
        if config.body_template is not None:
            body, content_type = fill_body(config.body_template, values)
        elif config.method not in ("GET", "DELETE"):
            body = sorted_json({**delivery_channels.event_body(delivery.event), "data": {**values}})
        secrets: JsonObject = {"secret": dict(settings.CMS_ENV.workflow_secrets)}
        headers = {name: str(filled(text, secrets) or "") for name, text in config.headers.items()}
        return OutgoingRequest(
            url=config.url,
            method=config.method,
            headers=headers,
            body=body,
            content_type=content_type,
            secrets=tuple(settings.CMS_ENV.workflow_secrets.values()),
            keys=shared_keys(),
            extra_headers={"X-Agent-Run": str(run.pk)},
        )
