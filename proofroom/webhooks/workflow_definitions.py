"""Workflows: their files, their switches, and the requests they make from events.

A workflow is a file `workflows/<id>.yaml`, `.yml` or `.json` in any installed app, or in CMS_WORKFLOWS_DIR.
`proofroom.core.definition_files` describes how files are found and how invalid ones are handled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.db.models import Max
from pydantic import AfterValidator, Field, JsonValue, field_validator

from proofroom.core import outbox
from proofroom.core.actor import MAX_HOPS
from proofroom.core.conditions import Condition
from proofroom.core.definition_files import (
    DefinitionFiles,
    DefinitionPart,
    FileDefinition,
    from_json,
    from_yaml,
)
from proofroom.core.json import Json, JsonObject, sorted_json
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.webhooks.delivery_channels import (
    NothingToSend,
    OutgoingRequest,
    event_body,
)
from proofroom.webhooks.models import Delivery, DeliveryStatus, WorkflowSwitch
from proofroom.webhooks.placeholders import filled, placeholder_problem
from proofroom.webhooks.rules import (
    DeclaredHeaders,
    DeclaredUrl,
    clean_locales,
    clean_types,
    refusals_as_value_errors,
)
from proofroom.webhooks.signatures import shared_keys

ROOTS: Final = frozenset({"event", "data", "actor", "post", "cause", "workflow"})
"""Allowed first parts of placeholders and condition fields."""


def trigger_names() -> list[str]:
    """Return the events a workflow can use: events for webhooks, and events that start agents."""
    return [kind.public_name for kind in trigger_kinds()]


def trigger_kinds() -> list[outbox.EventKind]:
    return [kind for kind in outbox.all_kinds() if kind.is_webhook or kind.is_trigger]


def check_condition(condition: Condition) -> Condition:
    root = condition.field.partition(".")[0]
    if root not in ROOTS:
        known = ", ".join(sorted(ROOTS))
        raise ValueError(f"the field {condition.field[:60]!r} must begin with one of: {known}")
    return condition


class Filters(DefinitionPart):
    """The filters of a workflow's events; an empty list allows all.

    `types` and `locales` apply to events of posts, `formSlugs` to events of forms, conditions to every event.
    """

    types: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    form_slugs: tuple[str, ...] = ()
    conditions: tuple[Annotated[Condition, AfterValidator(check_condition)], ...] = ()

    @field_validator("locales")
    @classmethod
    def locales_are_known(cls, locales: tuple[str, ...]) -> tuple[str, ...]:
        refusals_as_value_errors(lambda: clean_locales(locales))
        return locales

    @field_validator("types")
    @classmethod
    def types_are_known(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        refusals_as_value_errors(lambda: clean_types(types))
        return types


class WorkflowDefinition(FileDefinition):
    """The definition of a workflow in its file."""

    name: str = Field(min_length=1, max_length=120)
    description: str = Field(default="", max_length=2000)
    enabled: bool = True
    triggers: tuple[str, ...]
    order: int = Field(default=0, ge=-1_000_000, le=1_000_000)
    filters: Filters = Filters()
    url: DeclaredUrl = Field(repr=False)
    headers: DeclaredHeaders = Field(default_factory=dict, repr=False)
    payload: dict[str, JsonValue] | None = None

    @field_validator("triggers")
    @classmethod
    def triggers_are_events(cls, triggers: tuple[str, ...]) -> tuple[str, ...]:
        known = trigger_names()
        wrong = [name[:80] for name in triggers if name not in known]
        if wrong or not triggers:
            problem = f"{wrong[0]!r} is no event" if wrong else "it names no event"
            raise ValueError(f"{problem}; known: {', '.join(known)}")
        return triggers

    @field_validator("payload")
    @classmethod
    def payload_is_sound(cls, payload: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        refusals_as_value_errors(lambda: reject_unstorable(payload, "payload"))
        fault = placeholder_problem(payload, ROOTS)
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
    """Return all workflows, enabled or not, sorted by `order` and id."""
    return sorted(FILES.all(), key=lambda workflow: (workflow.order, workflow.id))


def workflow_channel(workflow_id: str) -> str:
    return f"workflow:{workflow_id}"


@register("definitions")
def check_workflows(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Return all problems of all workflow files."""
    # The check needs the current files, not the ones read when the process started.
    FILES.reload()
    return [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its workflow is left out.",
            id="webhooks.E001",
        )
        for problem in FILES.catalogue().problems
    ]


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow with its state. A run is a delivery; `last` is the run of the latest event."""

    definition: WorkflowDefinition
    is_enabled: bool
    last: Delivery | None


def load_workflows(definitions: Sequence[WorkflowDefinition] | None = None) -> list[Workflow]:
    """Return these workflows, or all, sorted like `all_workflows`. Three queries."""
    found = all_workflows() if definitions is None else definitions
    switches, last = load_switches(), last_runs(item.id for item in found)
    return [
        Workflow(item, switches.get(item.id, item.enabled), last.get(item.id)) for item in found
    ]


def last_runs(workflow_ids: Iterable[str]) -> dict[str, Delivery]:
    """Return the run of each workflow's latest event, by workflow id. Two queries."""
    channels = [workflow_channel(id_) for id_ in workflow_ids]
    # Event ids grow with time, so the largest one is the latest.
    runs = Delivery.objects.filter(lane__in=channels)
    latest = dict(runs.values_list("lane").annotate(last=Max("event")).order_by())
    rows = runs.filter(event__in=set(latest.values()))
    return {row.workflow_id: row for row in rows if latest.get(row.lane) == row.event_id}


def load_switches() -> dict[str, bool]:
    """Return the switches set by people, by workflow id."""
    return dict(WorkflowSwitch.objects.values_list("workflow_id", "is_enabled"))


def enabled_workflows() -> list[WorkflowDefinition]:
    """Return the enabled workflows, sorted like `all_workflows`. One query; none if there are no workflows."""
    workflows = all_workflows()
    switches = load_switches() if workflows else {}
    return [item for item in workflows if switches.get(item.id, item.enabled)]


def is_enabled(workflow_id: str) -> bool:
    """Return True if the workflow exists and is enabled."""
    workflow = get_workflow(workflow_id)
    return workflow is not None and load_switches().get(workflow_id, workflow.enabled)


TEST_EVENT: Final = "workflow.test"
SWITCHED_OFF: Final = "The workflow is turned off."
FILE_GONE: Final = "The workflow's file is not there any more, or cannot be read."
BODY_MAX_BYTES: Final = 1_000_000
POST_FIELDS: Final = ("id", "type", "locale", "slug", "title", "status", "url")


class WorkflowChannel:
    """The channel of workflows: calls the workflow's URL with the payload its file defines."""

    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """Return the request according to the current file. Raises `NothingToSend`."""
        if delivery.event.forgotten_at is not None:
            raise NothingToSend("The words of this event were deleted.")
        workflow = get_workflow(delivery.workflow_id)
        if workflow is None:
            raise NothingToSend(FILE_GONE)
        # A test also runs for a disabled workflow, and a sent request must stay readable.
        is_to_be_sent = delivery.status in (DeliveryStatus.PENDING, DeliveryStatus.SENDING)
        if is_to_be_sent and delivery.event_name != TEST_EVENT and not is_enabled(workflow.id):
            raise NothingToSend(SWITCHED_OFF)
        if workflow.payload is None:
            body = sorted_json(full_event(delivery.event))
        else:
            values = placeholder_values(delivery.event, workflow)
            body = sorted_json(
                {name: filled(part, values) for name, part in workflow.payload.items()}
            )
        if len(body) > BODY_MAX_BYTES:
            raise NothingToSend(
                f"What the workflow makes of this event has over {BODY_MAX_BYTES:,} bytes."
            )
        secrets: JsonObject = {"secret": dict(settings.CMS_ENV.workflow_secrets)}
        return OutgoingRequest(
            url=workflow.url,
            headers={
                name: str(filled(value, secrets) or "") for name, value in workflow.headers.items()
            },
            body=body,
            secrets=tuple(settings.CMS_ENV.workflow_secrets.values()),
            keys=shared_keys(),
        )


def full_event(event: Event) -> JsonObject:
    """Return the complete event: what happened, its object, its actor, and its causes.

    `order` grows with every event, so a receiver can tell which of two came first.
    """
    whole: JsonObject = {
        **event_body(event),
        "version": event.version,
        "order": event.pk,
        "actor": {
            "id": event.actor_id,
            "name": event.actor_name,
            "via": event.via,
            "agentId": event.agent_id or None,
        },
        "cause": load_causes(event),
    }
    post = post_fields(event)
    return {**whole, "post": post} if post else whole


def post_fields(event: Event) -> JsonObject:
    """Return the post of an event, as it was then, or the sample of a test; empty if there is none."""
    is_sample = str(event.payload.get("sampleOf", "")).startswith("post.")
    if event.post_id is None and not is_sample:
        return {}
    known: JsonObject = {name: event.payload[name] for name in POST_FIELDS if name in event.payload}
    return known if is_sample else {**known, "id": str(event.post_id)}


def load_causes(event: Event) -> list[Json]:
    """Return the causes of an event, the nearest first."""
    found: list[Json] = []
    cause_id = event.cause_id
    # Only events of runs have causes, and `MAX_HOPS` limits their chains.
    while cause_id is not None and len(found) <= MAX_HOPS:
        cause = Event.objects.filter(pk=cause_id).only("uid", "name", "run_id", "cause_id").first()
        if cause is None:
            break
        found.append({"id": str(cause.uid), "event": cause.name, "runId": cause.run_id or None})
        cause_id = cause.cause_id
    return found


def placeholder_values(event: Event, workflow: WorkflowDefinition) -> JsonObject:
    """Return the values for placeholders and conditions."""
    whole = full_event(event)
    event_values: JsonObject = {
        "id": whole["id"],
        "name": whole["event"],
        "createdAt": whole["createdAt"],
        "version": whole["version"],
        "order": whole["order"],
    }
    return {
        "event": event_values,
        "data": whole["data"],
        "actor": whole["actor"],
        "post": whole.get("post"),
        "cause": whole["cause"],
        "workflow": {"id": workflow.id, "name": workflow.name},
    }
