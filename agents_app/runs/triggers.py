"""Runs started automatically: by events, and by other systems with the secret.

An event starts one run per agent of its scope, in ascending order, one after another. Another
system starts runs as the agent with its own rights, with a rate limit per post.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from agents_app.definitions.agents import account_of, agents_for, enabled_agent, only_enabled
from agents_app.definitions.schema import EVENT_SCOPES, AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.runs.chain import TooManyHops, record_stopped_chain
from agents_app.runs.creation import MAX_CONTEXT_CHARACTERS, create_run
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotAllowed, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import parse_uuid

logger = logging.getLogger(__name__)
_LONG_LIST: Final = 200
_SHORT_LIST: Final = 20
_ROOM: Final = 200
"""Characters of a context reserved for keys beside the payload."""


def subscribe_triggers() -> None:
    """Subscribe to the events that are scopes. Called once, at start."""
    outbox.subscribe(
        [scope.value for scope in EVENT_SCOPES],
        start_event_runs,
        id="agents_app.triggers.start_agents",
    )


def start_event_runs(event: Event) -> None:
    """Start the runs of an event. Idempotent; a run that cannot start does not stop the others.

    If the database aborts because of a lock conflict, none starts and the event is delivered again.
    Commands start none: sample content is complete, and must not cause dozens of requests with a
    site's first key.
    """
    if event.forgotten_at is not None or event.via == "command":
        return
    slug = event.payload.get("formSlug")
    found = agents_for(event.name, form_slug=slug if isinstance(slug, str) else "")
    # An agent is not started by its own changes.
    agents = only_enabled([agent for agent in found if agent.id != event.agent_id])
    if not agents:
        return
    # The runs refer to the post. With posts of several events in one transaction, two workers
    # could deadlock.
    outbox.require_own_transaction()
    started = set(AgentRun.objects.filter(event=event).values_list("agent_id", flat=True))
    for position, agent in enumerate(agents):
        if agent.id not in started:
            _begin(agent, event, position)


def _begin(agent: AgentDefinition, event: Event, position: int) -> None:
    try:
        with transaction.atomic():
            account = account_of(agent)
            if account is None:
                logger.warning("%s does not start %s: its account is turned off", event, agent.id)
                return
            # Visitors write form submissions, so a run that gets one may only read.
            key = "untrusted" if event.name == Scope.FORM_SUBMIT else "eventData"
            # Shorten a payload that is too long, instead of failing.
            payload: JsonObject = event.payload
            for most in (_LONG_LIST, _SHORT_LIST):
                if len(json.dumps(payload)) <= MAX_CONTEXT_CHARACTERS - _ROOM:
                    break
                payload = {name: _cut(value, most) for name, value in payload.items()}
            create_run(
                agent_id=agent.id,
                scope=event.name,
                actor=Actor(user=account, via="system", agent_id=agent.id),
                post_id=event.post_id,
                context={"event": event.name, key: payload},
                event=event,
                position=position,
            )
    except CmsError as error:
        logger.warning("%s does not start %s: %s", event, agent.id, error.message)
        if isinstance(error, TooManyHops):
            record_stopped_chain(error, event.run_id)
    except IntegrityError:
        if not AgentRun.objects.filter(event=event, agent_id=agent.id).exists():
            raise
        logger.info("%s has started %s already", event, agent.id)
    # Raised again, so that the event is retried: the next database call would fail as well.
    except DatabaseError:
        raise
    except Exception:
        # The event would be retried, fail again, and keep the other agents from starting.
        logger.exception("%s cannot start %s", event, agent.id)


def _cut(value: Json, most: int) -> Json:
    if isinstance(value, str):
        return value if len(value) <= 10 * most else value[: 10 * most] + "…"
    if isinstance(value, Mapping):
        return {name: _cut(item, most) for name, item in list(value.items())[:most]}
    if isinstance(value, Sequence):
        return [_cut(item, most) for item in value[:most]]
    return value


MAX_TRIGGERS_PER_HOUR: Final = 30
"""Maximum runs of one agent on one post per hour, because loops through other systems cannot be detected."""
_HOUR: Final = timedelta(hours=1)


class TriggerRateExceeded(CmsError):
    """`seconds`: time until the next allowed attempt."""

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def trigger_run(
    *,
    agent_id: str,
    scope: str,
    post_id: str | None,
    context: JsonObject | None,
    open_ended_context: str | None,
    caused_by: str = "",
) -> tuple[AgentRun, Actor]:
    """Start a run; return it with its actor. `caused_by`: the run whose reaction led to the call, if
    the caller names it, which counts as the previous run of the chain.

    Raises as `create_run`, and `TriggerRateExceeded`.
    """
    agent = enabled_agent(agent_id)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(f"The account of the agent {agent.id} is turned off.")
    cause = None
    if caused_by:
        cause_id = parse_uuid(caused_by)
        if cause_id is None:
            raise invalid("X-Agent-Run", "X-Agent-Run must be the id of a run.")
        # The run may have been deleted; then a new chain starts.
        cause = AgentRun.objects.filter(pk=cause_id).first()
    actor = Actor(
        user=account,
        via="system",
        agent_id=agent.id,
        run_id=str(cause.pk) if cause is not None else None,
        hop=cause.hop + 1 if cause is not None else 0,
        has_read_untrusted=cause is not None and cause.has_read_untrusted,
    )
    _check_rate(agent_id, post_id)
    run = create_run(
        agent_id=agent_id,
        scope=scope,
        actor=actor,
        post_id=post_id,
        context=context,
        open_ended_context=open_ended_context,
    )
    return run, actor


def _check_rate(agent_id: str, post_id: str | None) -> None:
    post = parse_uuid(post_id or "")
    if post is None:
        return
    now = timezone.now()
    latest = AgentRun.objects.filter(
        post_id=post, agent_id=agent_id, via="system", event=None, created_at__gt=now - _HOUR
    )
    times = list(
        latest.order_by("-created_at").values_list("created_at", flat=True)[:MAX_TRIGGERS_PER_HOUR]
    )
    if len(times) < MAX_TRIGGERS_PER_HOUR:
        return
    seconds = max(1, round((times[-1] + _HOUR - now).total_seconds()))
    raise TriggerRateExceeded(
        f"The agent {agent_id} was begun {MAX_TRIGGERS_PER_HOUR} times on this post within an hour; "
        f"try again in {seconds} seconds.",
        seconds,
    )
