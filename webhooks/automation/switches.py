"""Which workflows are on: what a person said, else what the file says."""

from __future__ import annotations

from webhooks.automation.definitions import all_workflows, get_workflow
from webhooks.automation.schema import WorkflowDefinition
from webhooks.models import WorkflowSwitch


def switched() -> dict[str, bool]:
    """What people switched, by id of the workflow."""
    return dict(WorkflowSwitch.objects.values_list("workflow_id", "is_enabled"))


def enabled_workflows() -> list[WorkflowDefinition]:
    """Those that are on, in ascending order. One query; none where there is no workflow."""
    workflows = all_workflows()
    switches = switched() if workflows else {}
    return [item for item in workflows if switches.get(item.id, item.enabled)]


def is_enabled(workflow_id: str) -> bool:
    """Whether there is such a workflow, and it is on."""
    workflow = get_workflow(workflow_id)
    return workflow is not None and switched().get(workflow_id, workflow.enabled)
