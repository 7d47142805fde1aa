"""Reactions that call a tool: claim, call as the agent with the run's remaining rights, retry, end.

The tool's writes and the record of the call share one transaction, so that a worker that dies has
done both or neither.
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
"""Seconds of the pauses between attempts; after the last one the reaction fails."""
CLAIM_TIMEOUT: Final = timedelta(minutes=5)
"""Time after which the worker of a call must have ended."""
_SWEPT: Final = 200
_LONGEST: Final = 1000
_OUTSIDE: Final = frozenset({"generate_image"})
"""Tools that wait for other systems, which must not happen inside a transaction."""


@dataclass(frozen=True, slots=True)
class _ReactionCall:
    tool_name: str
    params: JsonObject
    actor: Actor


def call_reaction_tool(reaction_id: int) -> None:
    """Make the call of a reaction if it is due. Idempotent."""
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
        logger.info("reaction %s was taken over by another worker", row.pk)
    # A conflict may be gone at the next attempt; other CMS errors would come back.
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
    """Another worker has taken the call."""


def _claim(reaction_id: int) -> RunReaction | None:
    now = timezone.now()
    until = now + CLAIM_TIMEOUT
    # The claim moves the due time, so that a second message finds nothing to do.
    due = RunReaction.objects.filter(pk=reaction_id, next_attempt_at__lte=now)
    claimed = due.update(
        status=ReactionStatus.RUNNING,
        attempts=F("attempts") + 1,
        claimed_until=until,
        next_attempt_at=until,
    )
    rows = RunReaction.objects.select_related("run__post", "run__event")
    # The exact time identifies this claim: another worker's has another time.
    row = rows.filter(pk=reaction_id, claimed_until=until).first() if claimed else None
    if row is not None and row.attempts > len(RETRY_PAUSES) + 1:
        # The call itself may be what kills the workers.
        _end(row, "", error="Its worker ended each time before it knew what became of it.")
        return None
    return row


def _prepare(row: RunReaction) -> _ReactionCall:
    """Return the call from the current file. Raises `CmsError` if it is not allowed, or not any more."""
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
    # The agent's own list of tools, otherwise the tool named by the reaction, even without useMCP.
    config = agent.llm_config
    allowed = config.allowed_mcp_tools or (name,)
    listing = config.model_copy(update={"use_mcp": True, "allowed_mcp_tools": allowed})
    tool = usable_tool(name, agent.model_copy(update={"llm_config": listing}), actor)
    params = fill_params(reaction.config.tool_params, values_of(run, agent))
    if tool.group == "agents":
        params.pop("wait", None)  # the result has no reader
    lendable = usable_tools(agent, replace(actor, has_read_untrusted=False))
    # Runs started by the call may use no more tools than this run.
    tools = frozenset({name, *(item.name for item in lendable)})
    return _ReactionCall(name, params, replace(actor, tools=tools))


def _made(run: AgentRun, prepared: _ReactionCall) -> str:
    """Make the call and return a short summary."""
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
        logger.info("reaction %s was taken over by another worker", row.pk)


def _write(
    row: RunReaction,
    status: ReactionStatus,
    next_at: datetime | None,
    *,
    error: str = "",
    summary: str = "",
) -> None:
    """Store the result if the claim is still this worker's. Raises `_LostReaction`."""
    updated = RunReaction.objects.filter(pk=row.pk, claimed_until=row.claimed_until).update(
        status=status,
        next_attempt_at=next_at,
        claimed_until=None,
        error=calling.strip_unstorable(error)[:_LONGEST],
        summary=summary,
        finished_at=None if next_at is not None else timezone.now(),
    )
    if not updated:
        raise _LostReaction


def sweep_reactions() -> int:
    """Queue due calls whose message was lost or whose worker died. Return their number."""
    rows = RunReaction.objects.filter(next_attempt_at__lte=timezone.now())
    due = list(rows.order_by("next_attempt_at").values_list("pk", flat=True)[:_SWEPT])
    with transaction.atomic():
        for reaction_id in due:
            wake_reaction(reaction_id)
    return len(due)
