"""The end of a run has its agent's reactions happen: a row for each, and what carries it out, once."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from agents_app.definitions.files import get_agent
from agents_app.definitions.reactions import Reaction
from agents_app.definitions.switches import only_enabled
from agents_app.models import AgentRun, RunReaction, RunStatus
from agents_app.reactions.delivery_channel import (
    CHANNEL_PREFIX,
    ReactionChannel,
    channel_of_reaction,
)
from agents_app.reactions.template_values import is_forgotten, run_of, values_of
from agents_app.reactions.templates import path_in_full
from proofroom.core import outbox
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.task_queue.wake_up import queue_task, send_after_commit
from proofroom.webhooks.delivery_channels import channels
from proofroom.webhooks.dispatch import new_delivery, queue_all
from proofroom.webhooks.models import Delivery

logger = logging.getLogger(__name__)
FINISHED: Final = "agent.run.finished"
_ERRORS: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)
_ENDS: Final = (RunStatus.SUCCEEDED, *_ERRORS)
"""A run that was cancelled has completed nothing."""


def subscribe_reactions() -> None:
    """Subscribe to the ends of runs, and know the lane. Called once, at start."""
    outbox.subscribe([FINISHED], start_reactions, id="agents_app.reactions.starting.react")
    channels.register(ReactionChannel(), name=CHANNEL_PREFIX)


def start_reactions(event: Event) -> None:
    """Begin every reaction whose trigger holds. Told twice, it begins none twice."""
    run = run_of(event)
    agent = get_agent(run.agent_id) if run is not None else None
    if run is None or agent is None or not agent.reactions:
        return
    if (
        run.is_dry
        or run.status not in _ENDS
        or is_forgotten(event, run)
        or not only_enabled([agent])
    ):
        return
    begun = set(RunReaction.objects.filter(run=run).values_list("number", flat=True))
    values = values_of(run, agent)
    deliveries: list[Delivery] = []
    rows: list[RunReaction] = []
    for number, reaction in enumerate(agent.reactions, 1):
        if number in begun or not trigger_holds(reaction, run, values):
            continue
        row = RunReaction(
            run=run,
            number=number,
            kind=reaction.type,
            trigger=reaction.trigger,
            target=target_of(reaction)[:200],
        )
        if reaction.type == "mcp_tool":
            row.next_attempt_at = timezone.now()
        else:
            row.delivery = new_delivery(event, channel_of_reaction(run.agent_id, number))
            deliveries.append(row.delivery)
        rows.append(row)
    queue_all(deliveries)
    RunReaction.objects.bulk_create(rows)
    for row in rows:
        if row.next_attempt_at is not None:
            wake_reaction(row.pk)


def trigger_holds(reaction: Reaction, run: AgentRun, values: JsonObject) -> bool:
    match reaction.trigger:
        case "always":
            return True
        case "on_success":
            return run.status == RunStatus.SUCCEEDED
        case "on_error":
            return run.status in _ERRORS
    condition = reaction.condition
    if condition is None:  # the file's check refuses that
        return False
    in_full = path_in_full(condition.field)
    return condition.model_copy(update={"field": in_full}).holds(values)


def target_of(reaction: Reaction) -> str:
    """Whom a reaction calls: a host, which is all of an address that anybody may see, or a tool."""
    if reaction.type == "mcp_tool":
        return reaction.config.tool_name
    if reaction.type == "webhook":
        return urlsplit(reaction.config.url).hostname or ""
    url = reaction.config.webhook_url or settings.CMS_ENV.chat_webhook_url or ""
    return urlsplit(url).hostname or ""


def wake_reaction(reaction_id: int) -> None:
    """Tell a worker, after the commit. A lost message is made good by the sweep."""
    send_after_commit(
        lambda: queue_task("agents_app.tasks.call_reaction", reaction_id), f"reaction {reaction_id}"
    )
