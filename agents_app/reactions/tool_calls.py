"""Reactions that call a tool: claimed, called as the agent with what its run may still do, tried again, ended.

What the tool writes and that it was called stand in one transaction, so that a worker that dies has done all of it
or nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from agents_app.definitions.agents import account_of, get_agent, only_enabled
from agents_app.definitions.reaction_templates import fill_params
from agents_app.definitions.schema import ToolReaction
from agents_app.models import AgentRun, ReactionStatus, RunReaction
from agents_app.providers.interface import ProviderError
from agents_app.reactions.dispatch import (
    AGENT_OFF_MESSAGE,
    REACTION_GONE_MESSAGE,
    reaction_at,
    values_of,
    wake_reaction,
)
from agents_app.runs.chain import TooManyHops, record_stopped_chain
from agents_app.runs.permissions import run_actor, usable_tool, usable_tools
from agents_app.runs.undo import undo_recording
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound
from proofroom.core.json import JsonObject
from proofroom.core.tools import call as calling

logger = logging.getLogger(__name__)
RETRY_PAUSES: Final = (10, 60, 300, 1800)
"""Seconds after each failure; after the last of them it is over."""
CLAIM_TIMEOUT: Final = timedelta(minutes=5)
"""After which a worker that has a call must have ended."""
_SWEPT: Final = 200
_LONGEST: Final = 1000
_OUTSIDE: Final = frozenset({"generate_image"})
"""Tools that wait for others, which no transaction should."""


@dataclass(frozen=True, slots=True)
class _ReactionCall:
    tool_name: str
    params: JsonObject
    actor: Actor


def call_reaction_tool(reaction_id: int) -> None:
    """Make the call of a reaction, if it is due. Safe to call any number of times."""
    row = _claim(reaction_id)
    if row is None:
        return
    try:
        prepared = _prepare(row)
        if prepared.tool_name in _OUTSIDE:
            _end(row, _made(row.run, prepared))
        else:
            with transaction.atomic():
                _end(row, _made(row.run, prepared))
    except _LostReaction:
        logger.info("reaction %s was taken from this worker", row.pk)
    except Conflict as error:
        _fail(row, error.message, may_retry=True)
    except CmsError as error:
        if isinstance(error, TooManyHops):
            record_stopped_chain(error, str(row.run_id))
        _fail(row, calling.refusal_text(error), may_retry=False)
    except ProviderError as error:
        _fail(row, str(error), may_retry=True)
    except Exception:
        reference = uuid4().hex[:12]
        logger.exception("reaction %s failed, reference %s", row.pk, reference)
        _fail(row, f"Something went wrong here; it was logged as {reference}.", may_retry=True)


class _LostReaction(Exception):
    """Another worker has the call by now."""


def _claim(reaction_id: int) -> RunReaction | None:
    now = timezone.now()
    until = now + CLAIM_TIMEOUT
    due = RunReaction.objects.filter(pk=reaction_id, next_attempt_at__lte=now)
    taken = due.update(
        status=ReactionStatus.RUNNING,
        attempts=F("attempts") + 1,
        claimed_until=until,
        next_attempt_at=until,
    )
    rows = RunReaction.objects.select_related("run__post", "run__event")
    row = rows.filter(pk=reaction_id, claimed_until=until).first() if taken else None
    if row is not None and row.attempts > len(RETRY_PAUSES) + 1:
        # Perhaps it is what ends the workers.
        _end(row, "", error="Its worker ended each time before it knew what became of it.")
        return None
    return row


def _prepare(row: RunReaction) -> _ReactionCall:
    """The call as the file of now has it. Raises `CmsError` where it may not be made, or not any more."""
    run = row.run
    agent = get_agent(run.agent_id)
    reaction = reaction_at(agent, row.number) if agent is not None else None
    if agent is None or not isinstance(reaction, ToolReaction):
        raise NotFound(REACTION_GONE_MESSAGE)
    if not only_enabled([agent]):
        raise NotAllowed(AGENT_OFF_MESSAGE)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(f"The account of the agent {agent.id} is turned off.")
    actor = run_actor(run, agent, account)
    name = reaction.config.tool_name
    # The agent with its own list of tools, else with the one that the reaction names, without useMCP too.
    config = agent.llm_config
    named = config.allowed_mcp_tools or (name,)
    listing = config.model_copy(update={"use_mcp": True, "allowed_mcp_tools": named})
    tool = usable_tool(name, agent.model_copy(update={"llm_config": listing}), actor)
    params = fill_params(reaction.config.tool_params, values_of(run, agent))
    if tool.group == "agents":
        params.pop("wait", None)  # nobody is there to read the result
    lent = usable_tools(agent, replace(actor, has_read_untrusted=False))
    # What the run may use is the most that runs it starts may use.
    tools = frozenset({name, *(item.name for item in lent)})
    return _ReactionCall(name, params, replace(actor, tools=tools))


def _made(run: AgentRun, prepared: _ReactionCall) -> str:
    """The call, and its outcome in a few words."""
    tool = calling.find_tool(prepared.tool_name)
    with undo_recording(run):
        called = calling.call_raw(tool, prepared.actor, prepared.params)
    return f"{len(called.body):,} bytes"


def _end(row: RunReaction, summary: str, *, error: str = "") -> None:
    status = ReactionStatus.FAILED if error else ReactionStatus.SUCCEEDED
    _write(row, status, None, error=error, summary=summary)


def _fail(row: RunReaction, error: str, *, may_retry: bool) -> None:
    try:
        if may_retry and row.attempts <= len(RETRY_PAUSES):
            at = timezone.now() + timedelta(seconds=RETRY_PAUSES[row.attempts - 1])
            _write(row, ReactionStatus.PENDING, at, error=error)
        else:
            _end(row, "", error=error)
    except _LostReaction:
        logger.info("reaction %s was taken from this worker", row.pk)


def _write(
    row: RunReaction,
    status: ReactionStatus,
    next_at: datetime | None,
    *,
    error: str = "",
    summary: str = "",
) -> None:
    """What became of it, while the claim is this worker's. Raises `_LostReaction`."""
    kept = RunReaction.objects.filter(pk=row.pk, claimed_until=row.claimed_until).update(
        status=status,
        next_attempt_at=next_at,
        claimed_until=None,
        error=calling.strip_unstorable(error)[:_LONGEST],
        summary=summary,
        finished_at=None if next_at is not None else timezone.now(),
    )
    if not kept:
        raise _LostReaction


def sweep_reactions() -> int:
    """Have due calls made whose message was lost, or whose worker died. Answers how many."""
    rows = RunReaction.objects.filter(next_attempt_at__lte=timezone.now())
    due = list(rows.order_by("next_attempt_at").values_list("pk", flat=True)[:_SWEPT])
    with transaction.atomic():
        for reaction_id in due:
            wake_reaction(reaction_id)
    return len(due)
