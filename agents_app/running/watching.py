"""Watches the conversation of a run: each question is paid for, counted, written down, and ends when the run does."""

from __future__ import annotations

from typing import Literal

from django.db import transaction

from agents_app.budgets.reserving import reserve, settle
from agents_app.models import AgentRun, Reservation
from agents_app.providers.port import Choice, Step
from agents_app.running.doing import WAITING, Doing
from agents_app.running.owning import require_own
from agents_app.running.steps import add_step, add_usage
from agents_app.running.transcript import Transcript


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
            cost=None,
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
