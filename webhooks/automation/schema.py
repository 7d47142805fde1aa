"""The workflow definition: what a file in a `workflows/` folder may say."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field, JsonValue, field_validator

from core import events
from core.conditions import Condition
from core.definition_files import Definition, DefinitionPart
from core.hostile import refuse_unstorable
from webhooks import rules
from webhooks.automation.calls import refused_as_value_error, sound_headers, sound_url
from webhooks.automation.templates import fault_of

ROOTS: Final = frozenset({"event", "data", "actor", "post", "cause", "workflow"})
"""What placeholders and conditions may begin with."""


def trigger_names() -> list[str]:
    """Events that a workflow can wait for: those of webhooks, and those that start agents."""
    return [kind.name for kind in events.all_kinds() if kind.is_webhook or kind.is_trigger]


def _condition(condition: Condition) -> Condition:
    root = condition.field.partition(".")[0]
    if root not in ROOTS:
        known = ", ".join(sorted(ROOTS))
        raise ValueError(f"the field {condition.field[:60]!r} begins with none of: {known}")
    return condition


class Filters(DefinitionPart):
    """Which events of the triggers count; an empty list lets all through.

    `types` and `locales` are asked of events of posts, `formSlugs` of events of forms, conditions of every event.
    """

    types: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    form_slugs: tuple[str, ...] = ()
    conditions: tuple[Annotated[Condition, AfterValidator(_condition)], ...] = ()

    @field_validator("locales")
    @classmethod
    def _locales_are_known(cls, locales: tuple[str, ...]) -> tuple[str, ...]:
        refused_as_value_error(lambda: rules.locales_of(locales))
        return locales

    @field_validator("types")
    @classmethod
    def _types_are_known(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        refused_as_value_error(lambda: rules.types_of(types))
        return types


class WorkflowDefinition(Definition):
    name: str = Field(min_length=1, max_length=120)
    description: str = Field(default="", max_length=2000)
    enabled: bool = True
    triggers: tuple[str, ...]
    order: int = Field(default=0, ge=-1_000_000, le=1_000_000)
    filters: Filters = Filters()
    url: str = Field(repr=False)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    payload: dict[str, JsonValue] | None = None

    @field_validator("triggers")
    @classmethod
    def _triggers_are_events(cls, triggers: tuple[str, ...]) -> tuple[str, ...]:
        known = trigger_names()
        wrong = [name[:80] for name in triggers if name not in known]
        if wrong or not triggers:
            named = f"{wrong[0]!r} is no event" if wrong else "it names no event"
            raise ValueError(f"{named}; known: {', '.join(known)}")
        return triggers

    @field_validator("url")
    @classmethod
    def _url_is_allowed(cls, url: str) -> str:
        return sound_url(url)

    @field_validator("headers")
    @classmethod
    def _headers_are_sound(cls, headers: dict[str, str]) -> dict[str, str]:
        return sound_headers(headers)

    @field_validator("payload")
    @classmethod
    def _payload_is_sound(cls, payload: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        refused_as_value_error(lambda: refuse_unstorable(payload, "payload"))
        fault = fault_of(payload, ROOTS)
        if fault:
            raise ValueError(fault)
        return payload
