"""Starts the reactions of an agent when a run ends: one row for each, executed once.

Reactions that call other systems have a delivery channel each, `reaction:<agent>:<place>`, with its
own attempts and order.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from agents_app.definitions.agents import get_agent, only_enabled
from agents_app.definitions.reaction_templates import path_in_full
from agents_app.definitions.reaction_type import reaction_types
from agents_app.definitions.schema import AgentDefinition, CallReaction, Reaction, ToolReaction
from agents_app.models import AgentRun, ReactionStatus, RunReaction, RunStatus
from proofroom.core import outbox
from proofroom.core.json import JsonObject, format_time
from proofroom.core.models import Event
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.webhooks.delivery_channels import NothingToSend, OutgoingRequest, channels
from proofroom.webhooks.delivery_queue import new_delivery, queue_all
from proofroom.webhooks.models import Delivery, DeliveryStatus


def run_of(event: Event) -> AgentRun | None:
    """Return the run that the event is about, with its post and its cause; None if it was deleted."""
    run_id = event.payload.get("id")
    rows = AgentRun.objects.select_related("post", "event")
    return rows.filter(pk=run_id).first() if isinstance(run_id, str) else None


def is_forgotten(event: Event, run: AgentRun) -> bool:
    """Return True if data that led to the run was erased. Nothing about the run is sent then."""
    return event.forgotten_at is not None or (
        run.event is not None and run.event.forgotten_at is not None
    )


def values_of(run: AgentRun, agent: AgentDefinition) -> JsonObject:
    """Return the values of placeholders (docs/reference/reactions.md). Load the run with its event and post."""
    post, event = run.post, run.event
    form_slug = event.payload.get("formSlug") if event is not None else None
    site_url = str(settings.SITE_URL)
    with suppress(NoReverseMatch):  # a site without the admin
        site_url += reverse("admin:agents_app_agentrun_change", args=[run.pk])
    seconds: float | None = None
    if run.started_at is not None and run.finished_at is not None:
        seconds = round((run.finished_at - run.started_at).total_seconds(), 3)
    return {
        "agent": {"id": agent.id, "name": agent.name},
        "run": {
            "id": str(run.pk),
            "scope": run.scope,
            "url": site_url,
            "createdAt": format_time(run.created_at),
            "startedAt": format_time(run.started_at),
            "finishedAt": format_time(run.finished_at),
            "seconds": seconds,
        },
        "result": {
            "runId": str(run.pk),
            "status": run.status,
            "summary": run.summary,
            "declined": run.declined or None,
            "value": run.value,
            "staged": list(run.staged),
            "error": run.error or None,
            "provider": run.provider or None,
            "model": run.model or None,
            "usage": {
                "inputTokens": run.input_tokens,
                "outputTokens": run.output_tokens,
                "cachedTokens": run.cached_tokens,
            },
            "cost": float(run.cost) if run.cost is not None else None,
            "slug": post.slug if post is not None else None,
            "post": None
            if post is None
            else {
                "id": str(post.pk),
                "type": post.type,
                "locale": post.locale,
                "slug": post.slug,
                "title": post.title,
                "status": post.status,
                "url": post.path,
            },
        },
        "data": {
            "postId": str(run.post_id) if run.post_id else None,
            "scope": run.scope,
            "fieldKey": run.field_key or None,
            "event": event.name if event is not None else None,
            "formSlug": form_slug if isinstance(form_slug, str) else None,
        },
    }


CHANNEL_PREFIX: Final = "reaction"
REACTION_GONE_MESSAGE: Final = (
    "The reaction is not in the agent's file any more, or the file cannot be read."
)
AGENT_OFF_MESSAGE: Final = "The agent is turned off."
CANNOT_BEGIN_MESSAGE: Final = "The reaction could not begin; the log says why."
_BODY_MAX: Final = 1_000_000


def channel_of_reaction(agent_id: str, number: int) -> str:
    return f"{CHANNEL_PREFIX}:{agent_id}:{number}"


def reaction_at(agent: AgentDefinition, number: int) -> Reaction | None:
    """Return the reaction at a place of the file, counted from 1; None if there is none."""
    return agent.reactions[number - 1] if 1 <= number <= len(agent.reactions) else None


class ReactionChannel:
    def build_request(self, delivery: Delivery) -> OutgoingRequest:
        """Build the request from the current file. Raises `NothingToSend`."""
        run = run_of(delivery.event)
        if run is None:
            raise NothingToSend("The run was deleted.")
        if is_forgotten(delivery.event, run):
            raise NothingToSend("The words of this event were deleted.")
        _, agent_id, number = delivery.lane.split(":")
        agent = get_agent(agent_id)
        reaction = reaction_at(agent, int(number)) if agent is not None else None
        if agent is None or reaction is None:
            raise NothingToSend(REACTION_GONE_MESSAGE)
        # Finished deliveries stay readable even if the agent is off.
        is_to_be_sent = delivery.status in (DeliveryStatus.PENDING, DeliveryStatus.SENDING)
        if is_to_be_sent and not only_enabled([agent]):
            raise NothingToSend(AGENT_OFF_MESSAGE)
        if not isinstance(reaction, CallReaction):
            raise NothingToSend(REACTION_GONE_MESSAGE)
        type_ = reaction_types()[reaction.type]
        call = type_.build_request(reaction.config, values_of(run, agent), run, delivery)
        if len(call.body) > _BODY_MAX:
            raise NothingToSend(
                f"What the reaction makes of this run has over {_BODY_MAX:,} bytes."
            )
        return call


logger = logging.getLogger(__name__)
FINISHED: Final = "agent.run.finished"
_ERRORS: Final = (RunStatus.FAILED, RunStatus.TIMED_OUT)
_ENDS: Final = (RunStatus.SUCCEEDED, *_ERRORS)
"""Statuses with reactions. A cancelled run has completed nothing."""


def subscribe_reactions() -> None:
    """Subscribe to the ends of runs and register the delivery channel. Called once, at start."""
    outbox.subscribe([FINISHED], start_reactions, id="agents_app.reactions.starting.react")
    channels.register(ReactionChannel(), name=CHANNEL_PREFIX)


def start_reactions(event: Event) -> None:
    """Start every reaction whose trigger holds. Idempotent."""
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
    started = set(RunReaction.objects.filter(run=run).values_list("number", flat=True))
    values = values_of(run, agent)
    deliveries: list[Delivery] = []
    rows: list[RunReaction] = []
    for number, reaction in enumerate(agent.reactions, 1):
        # The event may be delivered again after some reactions were stored.
        if number in started:
            continue
        row = RunReaction(
            run=run, number=number, kind=reaction.type, trigger=reaction.trigger, target=""
        )
        try:
            if not trigger_holds(reaction, run, values):
                continue
            row.target = target_of(reaction)[:200]
        except Exception:
            # The event would be retried, fail again, and keep the other reactions from starting.
            logger.exception("cannot start reaction %s to run %s", number, run.pk)
            row.status, row.finished_at = ReactionStatus.FAILED, timezone.now()
            row.error = CANNOT_BEGIN_MESSAGE
        else:
            if isinstance(reaction, ToolReaction):
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
    """Return the target of a reaction: a host, because the rest of a URL may be secret, or a tool."""
    if isinstance(reaction, CallReaction):
        return reaction_types()[reaction.type].target(reaction.config)
    return reaction.config.tool_name


def wake_reaction(reaction_id: int) -> None:
    """Queue the call after the commit. The sweep replaces a lost message."""
    send_after_commit(
        lambda: queue_task("agents_app.tasks.call_reaction", reaction_id), f"reaction {reaction_id}"
    )
