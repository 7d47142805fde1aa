"""Workflow definitions: files `workflows/<id>.yaml`, `.yml` or `.json` in any installed app and CMS_WORKFLOWS_DIR.

`proofroom.core.definition_files` says how files are found and what becomes of broken ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from pydantic import AfterValidator, Field, JsonValue, field_validator

from proofroom.core import outbox
from proofroom.core.definition_files import (
    DefinitionFiles,
    DefinitionPart,
    FileDefinition,
    from_json,
    from_yaml,
)
from proofroom.core.validation.conditions import Condition
from proofroom.core.validation.input_validation import refuse_unstorable
from proofroom.webhooks import rules
from proofroom.webhooks.automation.templates import (
    check_headers,
    check_url,
    fault_of,
    refusals_as_value_errors,
)

ROOTS: Final = frozenset({"event", "data", "actor", "post", "cause", "workflow"})
"""What placeholders and conditions may begin with."""


def trigger_names() -> list[str]:
    """Return the events that a workflow can wait for: those of webhooks, and those that start agents."""
    return [kind.name for kind in outbox.all_kinds() if kind.is_webhook or kind.is_trigger]


def check_condition(condition: Condition) -> Condition:
    root = condition.field.partition(".")[0]
    if root not in ROOTS:
        known = ", ".join(sorted(ROOTS))
        raise ValueError(f"the field {condition.field[:60]!r} begins with none of: {known}")
    return condition


class Filters(DefinitionPart):
    """The events of the triggers that count; an empty list lets all through.

    `types` and `locales` are asked of events of posts, `formSlugs` of events of forms, conditions of every event.
    """

    types: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    form_slugs: tuple[str, ...] = ()
    conditions: tuple[Annotated[Condition, AfterValidator(check_condition)], ...] = ()

    @field_validator("locales")
    @classmethod
    def locales_are_known(cls, locales: tuple[str, ...]) -> tuple[str, ...]:
        refusals_as_value_errors(lambda: rules.clean_locales(locales))
        return locales

    @field_validator("types")
    @classmethod
    def types_are_known(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        refusals_as_value_errors(lambda: rules.clean_types(types))
        return types


class WorkflowDefinition(FileDefinition):
    """The definition of a workflow in its file."""

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
    def triggers_are_events(cls, triggers: tuple[str, ...]) -> tuple[str, ...]:
        known = trigger_names()
        wrong = [name[:80] for name in triggers if name not in known]
        if wrong or not triggers:
            named = f"{wrong[0]!r} is no event" if wrong else "it names no event"
            raise ValueError(f"{named}; known: {', '.join(known)}")
        return triggers

    @field_validator("url")
    @classmethod
    def url_is_allowed(cls, url: str) -> str:
        return check_url(url)

    @field_validator("headers")
    @classmethod
    def headers_are_sound(cls, headers: dict[str, str]) -> dict[str, str]:
        return check_headers(headers)

    @field_validator("payload")
    @classmethod
    def payload_is_sound(cls, payload: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        refusals_as_value_errors(lambda: refuse_unstorable(payload, "payload"))
        fault = fault_of(payload, ROOTS)
        if fault:
            raise ValueError(fault)
        return payload


def workflows_dir() -> Path | None:
    folder: Path | None = settings.CMS_ENV.cms_workflows_dir
    return folder


FILES: Final = DefinitionFiles(
    "workflows",
    WorkflowDefinition,
    {".yaml": from_yaml, ".yml": from_yaml, ".json": from_json},
    workflows_dir,
)
get_workflow = FILES.get
catalogue = FILES.catalogue
reload = FILES.reload


def all_workflows() -> list[WorkflowDefinition]:
    """Return all, switched-off ones too, in ascending order."""
    return sorted(FILES.all(), key=lambda workflow: (workflow.order, workflow.id))


def channel_of(workflow_id: str) -> str:
    return f"workflow:{workflow_id}"


@register("definitions")
def check_workflows(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Every problem of every workflow file."""
    # A check looks at the files of now, not at what was read when the process started.
    FILES.reload()
    return [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its workflow is left out.",
            id="webhooks.E001",
        )
        for problem in FILES.catalogue().problems
    ]
