"""What is read of workflows: which there are, whether they are on, and when each ran last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Max

from webhooks.automation.definitions import all_workflows
from webhooks.automation.schema import WorkflowDefinition
from webhooks.automation.starting import lane_of
from webhooks.automation.switches import switched
from webhooks.models import Delivery


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow as it stands. A run is a delivery; `last` is the one of the latest event."""

    definition: WorkflowDefinition
    is_enabled: bool
    last: Delivery | None


def workflows(definitions: Sequence[WorkflowDefinition] | None = None) -> list[Workflow]:
    """These, or all in ascending order. Three queries."""
    found = all_workflows() if definitions is None else definitions
    switches, last = switched(), last_runs(item.id for item in found)
    return [
        Workflow(item, switches.get(item.id, item.enabled), last.get(item.id)) for item in found
    ]


def last_runs(workflow_ids: Iterable[str]) -> dict[str, Delivery]:
    """The run of the latest event of each, by the workflow's id. Two queries."""
    lanes = [lane_of(id_) for id_ in workflow_ids]
    runs = Delivery.objects.filter(lane__in=lanes)
    latest = dict(runs.values_list("lane").annotate(last=Max("event")).order_by())
    rows = runs.filter(event__in=set(latest.values()))
    return {row.workflow_id: row for row in rows if latest.get(row.lane) == row.event_id}
