"""Watches the conversation of a run: each question is paid for, counted, written down, and ends when the run does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from django.db import transaction

from agents_app.budgets.reserving import reserve, settle
from agents_app.models import AgentRun, Reservation
from agents_app.providers.port import Choice, Step, ToolAnswer, Toolbox, ToolSpec
from agents_app.providers.prices import cost_of
from agents_app.running.doing import WAITING, Doing
from agents_app.running.owning import require_own
from agents_app.running.steps import add_step, add_usage
from agents_app.running.transcript import Transcript
from core.json import JsonObject
from core.tools import get_tool


class RunWatcher:
    """A `Watcher` for one attempt at a run."""

    def __init__(self, run: AgentRun, choice: Choice, transcript: Transcript) -> None:
        self._run = run
        self._choice = choice
        self._transcript = transcript
        self._reservation: Reservation | None = None
        self.doing = Doing(run)

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        """Raises `ProviderStopped`, or `BudgetExceeded`."""
        require_own(self._run)
        self._transcript.keep()
        self.doing.say(WAITING)
        self._reservation = reserve(
            agent_id=self._run.agent_id,
            run=self._run,
            tokens=input_tokens + output_tokens,
            cost=cost_of(self._choice, input_tokens, output_tokens),
            input_tokens=input_tokens,
        )

    def after_request(self, step: Step, *, input_tokens: int, output_tokens: int) -> None:
        """The run and its budget count the same, be the run over or not: it was spent all the same."""
        reservation, self._reservation = self._reservation, None
        with transaction.atomic():
            # The run before the budget, as everybody locks them.
            is_its = add_step(self._run, step)
            tokens = input_tokens + output_tokens
            # What the sweep settled already counts as used whole.
            if reservation is not None and settle(reservation, tokens=tokens, cost=step.cost):
                add_usage(
                    self._run,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                    cost=step.cost,
                )
        if is_its:
            self._transcript.keep()

    def heard(self, characters: int) -> None:
        self.doing.wrote(characters)

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        self._transcript.add(role, name, text)


class ToldToolbox:
    """A toolbox whose calls can be seen while they last."""

    def __init__(self, toolbox: Toolbox, doing: Doing) -> None:
        self._toolbox = toolbox
        self._doing = doing

    def specs(self) -> Sequence[ToolSpec]:
        return self._toolbox.specs()

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        # A model may call a tool by any words.
        self._doing.say(f"Calling {name}" if get_tool(name) else "Calling a tool that is not there")
        return self._toolbox.call(name, arguments)
