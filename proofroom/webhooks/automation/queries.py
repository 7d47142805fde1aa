"""Reads of workflows: which there are, whether they are on, and their last runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Max

from proofroom.webhooks.automation.definitions import (
    WorkflowDefinition,
    all_workflows,
    channel_of,
    get_workflow,
)
from proofroom.webhooks.models import Delivery, WorkflowSwitch


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow as it stands. A run is a delivery; `last` is the one of the latest event."""

    definition: WorkflowDefinition
    is_enabled: bool
    last: Delivery | None


def load_workflows(definitions: Sequence[WorkflowDefinition] | None = None) -> list[Workflow]:
    """Return these workflows, or all in ascending order. Three queries."""
    found = all_workflows() if definitions is None else definitions
    switches, last = load_switches(), last_runs(item.id for item in found)
    return [
        Workflow(item, switches.get(item.id, item.enabled), last.get(item.id)) for item in found
    ]


def last_runs(workflow_ids: Iterable[str]) -> dict[str, Delivery]:
    """Return the run of the latest event of each, by the workflow's id. Two queries."""
    channels = [channel_of(id_) for id_ in workflow_ids]
    runs = Delivery.objects.filter(lane__in=channels)
    latest = dict(runs.values_list("lane").annotate(last=Max("event")).order_by())
    rows = runs.filter(event__in=set(latest.values()))
    return {row.workflow_id: row for row in rows if latest.get(row.lane) == row.event_id}


def load_switches() -> dict[str, bool]:
    """Return what people switched, by id of the workflow."""
    return dict(WorkflowSwitch.objects.values_list("workflow_id", "is_enabled"))


def enabled_workflows() -> list[WorkflowDefinition]:
    """Return the workflows that are on, in ascending order. One query; none if there is no workflow."""
    workflows = all_workflows()
    switches = load_switches() if workflows else {}
    return [item for item in workflows if switches.get(item.id, item.enabled)]


def is_enabled(workflow_id: str) -> bool:
    """Return whether there is such a workflow, and it is on."""
    workflow = get_workflow(workflow_id)
    return workflow is not None and load_switches().get(workflow_id, workflow.enabled)
