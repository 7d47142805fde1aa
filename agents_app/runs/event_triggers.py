"""Events start agents: one run per agent of the event's scope, in ascending order, one after the other."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from django.db import DatabaseError, IntegrityError, transaction

from agents_app.definitions.files import agents_for
from agents_app.definitions.schema import EVENT_SCOPES, AgentDefinition, Scope
from agents_app.definitions.switches import account_of, only_enabled
from agents_app.models import AgentRun
from agents_app.runs.chain import TooManyHops, record_stopped_chain
from agents_app.runs.creation import MAX_CONTEXT_CHARACTERS, create_run
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event

logger = logging.getLogger(__name__)
_LONG_LIST: Final = 200
_SHORT_LIST: Final = 20
_ROOM: Final = 200
"""Characters of a context beside the payload."""


def subscribe_triggers() -> None:
    """Subscribe to the events that are scopes. Called once, at start."""
    outbox.subscribe(
        [scope.value for scope in EVENT_SCOPES],
        start_event_runs,
        id="agents_app.triggers.start_agents",
    )


def start_event_runs(event: Event) -> None:
    """Begin the runs of an event. Told twice, it begins none twice; one that cannot run does not stop the next.

    Where the database gives way to somebody else, none is begun, and the event is told again. Commands begin none:
    sample content is whole, and must not send a site's first key to dozens of questions.
    """
    if event.forgotten_at is not None or event.via == "command":
        return
    slug = event.payload.get("formSlug")
    found = agents_for(event.name, form_slug=slug if isinstance(slug, str) else "")
    # What an agent wrote itself never calls it again.
    agents = only_enabled([agent for agent in found if agent.id != event.agent_id])
    if not agents:
        return
    outbox.require_own_transaction()
    begun = set(AgentRun.objects.filter(event=event).values_list("agent_id", flat=True))
    for position, agent in enumerate(agents):
        if agent.id not in begun:
            _begin(agent, event, position)


def _begin(agent: AgentDefinition, event: Event, position: int) -> None:
    try:
        with transaction.atomic():
            account = account_of(agent)
            if account is None:
                logger.warning("%s does not start %s: its account is switched off", event, agent.id)
                return
            key = "untrusted" if event.name == Scope.FORM_SUBMIT else "eventData"
            create_run(
                agent_id=agent.id,
                scope=event.name,
                actor=Actor(user=account, via="system", agent_id=agent.id),
                post_id=event.post_id,
                context={"event": event.name, key: _shortened(event.payload)},
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
    except DatabaseError:
        raise
    except Exception:
        # Told again, it would fail again, and keep the others from starting.
        logger.exception("%s cannot start %s", event, agent.id)


def _shortened(payload: JsonObject) -> JsonObject:
    """The payload, or its beginnings: what says too much must not keep agents from running."""
    for most in (_LONG_LIST, _SHORT_LIST):
        if len(json.dumps(payload)) <= MAX_CONTEXT_CHARACTERS - _ROOM:
            return payload
        payload = {name: _cut(value, most) for name, value in payload.items()}
    return payload


def _cut(value: Json, most: int) -> Json:
    if isinstance(value, str):
        return value if len(value) <= 10 * most else value[: 10 * most] + "…"
    if isinstance(value, Mapping):
        return {name: _cut(item, most) for name, item in list(value.items())[:most]}
    if isinstance(value, Sequence):
        return [_cut(item, most) for item in value[:most]]
    return value
