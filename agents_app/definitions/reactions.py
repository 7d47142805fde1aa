"""Reactions as a file states them: what follows a run, and when."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from agents_app.reactions.templates import ROOTS, find_body_fault
from proofroom.core.definition_files import DefinitionPart
from proofroom.core.validation.conditions import Condition
from proofroom.core.validation.input_validation import refuse_unstorable
from proofroom.webhooks.automation.request_rules import (
    check_headers,
    check_url,
    refusals_as_value_errors,
)
from proofroom.webhooks.automation.templates import fault_of


class WebhookConfig(DefinitionPart):
    url: str = Field(repr=False)
    method: Literal["POST", "PUT", "PATCH", "GET", "DELETE"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    body_template: str | None = Field(default=None, max_length=100_000)

    @field_validator("url")
    @classmethod
    def _url_is_allowed(cls, url: str) -> str:
        return check_url(url)

    @field_validator("headers")
    @classmethod
    def _headers_are_sound(cls, headers: dict[str, str]) -> dict[str, str]:
        return check_headers(headers)

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
            raise ValueError(f"the method {self.method} has no body, so bodyTemplate must go")
        return self


class ChatConfig(DefinitionPart):
    """Without `webhookUrl` the target is CHAT_WEBHOOK_URL."""

    webhook_url: str | None = Field(default=None, repr=False)
    channel: str | None = Field(default=None, max_length=100)
    template: str = Field(min_length=1, max_length=10_000)

    @field_validator("webhook_url")
    @classmethod
    def _url_is_allowed(cls, url: str | None) -> str | None:
        if url is None:
            return None
        return check_url(url)

    @field_validator("template")
    @classmethod
    def _template_is_sound(cls, template: str) -> str:
        _require_sound(template, ROOTS)
        return template


class ToolConfig(DefinitionPart):
    tool_name: str
    tool_params: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("tool_params")
    @classmethod
    def _params_are_sound(cls, params: dict[str, JsonValue]) -> dict[str, JsonValue]:
        refusals_as_value_errors(lambda: refuse_unstorable(params, "toolParams"))
        _require_sound(params, ROOTS)
        return params


class _Reaction(DefinitionPart):
    trigger: Literal["always", "on_success", "on_error", "on_condition"] = "always"
    condition: Condition | None = None

    @field_validator("condition")
    @classmethod
    def _field_is_known(cls, condition: Condition | None) -> Condition | None:
        if condition is not None and condition.field.partition(".")[0] not in ROOTS:
            known = ", ".join(sorted(ROOTS))
            raise ValueError(f"the field {condition.field[:60]!r} begins with none of: {known}")
        return condition

    @model_validator(mode="after")
    def _condition_fits(self) -> _Reaction:
        if (self.trigger == "on_condition") != (self.condition is not None):
            raise ValueError("a condition goes with the trigger on_condition, and only with it")
        return self


class WebhookReaction(_Reaction):
    type: Literal["webhook"]
    config: WebhookConfig


class ChatReaction(_Reaction):
    type: Literal["chat"]
    config: ChatConfig


class ToolReaction(_Reaction):
    type: Literal["mcp_tool"]
    config: ToolConfig


Reaction = Annotated[WebhookReaction | ChatReaction | ToolReaction, Field(discriminator="type")]


def _require_sound(template: JsonValue, roots: frozenset[str]) -> None:
    fault = fault_of(template, roots)
    if fault:
        raise ValueError(fault)
