"""Asking the present agent what a past run was asked: paid from the budget, with reading tools only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.conf import settings

from agents_app.budgets.reservations import reserve, settle
from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import account_of
from agents_app.models import AgentRun, Reservation
from agents_app.providers import conversations, interface
from agents_app.providers.selection import DEFAULT_MODELS, choose_provider
from agents_app.replay.recorded_inputs import ReplayInput
from agents_app.runs.prompt import fence_payload, system_prompt
from agents_app.runs.suggestion import FieldSuggestion, Suggestion, output_type
from agents_app.runs.tool_policy import usable_tool, usable_tools
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.tools import call as calling
from proofroom.core.tools.schemas import lean_schema

_RETRIES = 2


@dataclass(slots=True)
class ReplaySpending:
    """The use of asking again."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = field(default_factory=Decimal)
    seconds: float = 0.0


def chosen(agent: AgentDefinition, model: str) -> interface.ProviderChoice:
    """Return the agent's own choice of provider, or `provider:model`. Raises `ProviderError`."""
    if not model:
        return choose_provider(agent)
    provider, _, name = model.partition(":")
    if provider not in (*DEFAULT_MODELS, interface.DEMO_PROVIDER) or (
        not name and provider != interface.DEMO_PROVIDER
    ):
        known = ", ".join((*DEFAULT_MODELS, interface.DEMO_PROVIDER))
        raise interface.ProviderError(f"{model!r} is no provider:model; providers are {known}.")
    changed = {"provider_text": provider, "model_text": name or None}
    config = agent.llm_config.model_copy(update=changed)
    return choose_provider(agent.model_copy(update={"llm_config": config}))


def ask(
    agent: AgentDefinition,
    choice: interface.ProviderChoice,
    run: AgentRun,
    given: ReplayInput,
    spent: ReplaySpending,
) -> Suggestion | FieldSuggestion:
    """The present answer. Raises `ProviderError`; what it used is in `spent` either way."""
    toolbox = _ReadingTools(agent, run) if agent.llm_config.use_mcp else interface.Toolbox()
    talk = conversations.open_conversation(
        agent,
        choice,
        system_prompt=system_prompt(agent, run, given.document, toolbox.specs()),
        payload=given.payload,
        output_type=output_type(run.scope),
        toolbox=toolbox,
        watcher=_Payer(agent.id, spent),
    )
    started = time.monotonic()
    try:
        seconds = float(settings.CMS_ENV.agent_run_timeout)
        answer = talk.ask(
            fence_payload(run, given.payload), retries=_RETRIES, seconds=seconds
        ).output
    finally:
        spent.seconds += time.monotonic() - started
    if not isinstance(answer, Suggestion | FieldSuggestion):
        raise interface.ProviderError("The answer has another form than was asked for.")
    return answer


class _Payer(interface.ConversationWatcher):
    """A watcher that reserves before each request and settles after it."""

    def __init__(self, agent_id: str, spent: ReplaySpending) -> None:
        self._agent_id = agent_id
        self._spent = spent
        self._reservation: Reservation | None = None

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        self._reservation = reserve(
            agent_id=self._agent_id,
            run=None,
            tokens=input_tokens + output_tokens,
            cost=None,
            input_tokens=input_tokens,
        )

    def after_request(
        self, step: interface.StepRecord, *, input_tokens: int, output_tokens: int
    ) -> None:
        reservation, self._reservation = self._reservation, None
        self._spent.input_tokens += input_tokens
        self._spent.output_tokens += output_tokens
        self._spent.cost += step.cost or 0
        if reservation is not None:
            settle(reservation, tokens=input_tokens + output_tokens, cost=step.cost)


class _ReadingTools(interface.Toolbox):
    """The agent's tools that only read: what a run staged on the way must not be staged again."""

    def __init__(self, agent: AgentDefinition, run: AgentRun) -> None:
        account = account_of(agent)
        if account is None:
            raise interface.ProviderError(f"The account of the agent {agent.id} is switched off.")
        actor = Actor(user=account, via="agent", agent_id=agent.id)
        self._agent = agent
        self._actor = replace(actor, has_read_untrusted=True)

    def specs(self) -> Sequence[interface.ToolSpec]:
        tools = usable_tools(self._agent, self._actor)
        return [
            interface.ToolSpec(tool.name, tool.description, lean_schema(tool.arguments))
            for tool in tools
        ]

    def call(self, name: str, arguments: JsonObject) -> interface.ToolAnswer:
        try:
            tool = usable_tool(name, self._agent, self._actor)
            return interface.ToolAnswer(
                calling.call_raw(tool, self._actor, arguments).body.decode(), ok=True
            )
        except CmsError as error:
            return interface.ToolAnswer(calling.refusal_text(error), ok=False)
