"""The lane of each workflow: what its file says."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from core.json import JsonObject
from webhooks.automation.definitions import get_workflow
from webhooks.automation.envelope import body_of
from webhooks.automation.switches import is_enabled
from webhooks.automation.templates import filled
from webhooks.lanes import GivenUp, Outgoing
from webhooks.models import Delivery, DeliveryStatus
from webhooks.signing import shared_keys

TEST: Final = "workflow.test"
OFF: Final = "The workflow is switched off."
GONE: Final = "The workflow's file is not there any more, or cannot be read."
_BODY_MAX: Final = 1_000_000


class WorkflowLane:
    def request_of(self, delivery: Delivery) -> Outgoing:
        """The request as the file of now makes it. Raises `GivenUp`."""
        if delivery.event.forgotten_at is not None:
            raise GivenUp("The words of this event were deleted.")
        workflow = get_workflow(delivery.workflow_id)
        if workflow is None:
            raise GivenUp(GONE)
        # A test tries out what is not on yet, and what was sent stays to be read.
        is_to_be_sent = delivery.status in (DeliveryStatus.PENDING, DeliveryStatus.SENDING)
        if is_to_be_sent and delivery.event_name != TEST and not is_enabled(workflow.id):
            raise GivenUp(OFF)
        body = body_of(delivery.event, workflow)
        if len(body) > _BODY_MAX:
            raise GivenUp(f"What the workflow makes of this event has over {_BODY_MAX:,} bytes.")
        secrets: JsonObject = {"secret": dict(settings.CMS_ENV.workflow_secrets)}
        return Outgoing(
            url=workflow.url,
            headers={
                name: str(filled(value, secrets) or "") for name, value in workflow.headers.items()
            },
            body=body,
            secrets=tuple(settings.CMS_ENV.workflow_secrets.values()),
            keys=shared_keys(),
        )
