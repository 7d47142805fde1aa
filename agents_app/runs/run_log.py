"""The log of an executing run: steps, usage, messages and current activity."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal

from django.db import transaction
from django.db.models import DecimalField, F, Max, Value
from django.db.models.functions import Coalesce

from agents_app.budgets.reservations import reserve, settle
from agents_app.models import AgentRun, Reservation, RunMessage, RunStep
from agents_app.providers.interface import ConversationWatcher, ProviderChoice, StepRecord
from agents_app.providers.outages import pause_after_outage
from agents_app.providers.prices import cost_of
from agents_app.runs.leak_prevention import RunRedactor
from agents_app.runs.ownership import owned_rows, require_ownership, run_stopped
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.json import JsonObject


def record_run(what: str, run: AgentRun, actor: Actor) -> None:
    """Record an event about a run in the caller's transaction."""
    if run.event_id is not None and actor.event_id is None:
        # Connects the event with the one that triggered the run.
        actor = replace(actor, event_id=run.event_id, hop=run.hop)
    payload: JsonObject = {
        "id": str(run.pk),
        "agentId": run.agent_id,
        "scope": run.scope,
        "status": run.status,
    }
    outbox.record(f"agent.run.{what}", actor=actor, post_id=run.post_id, payload=payload)


def record_run_end(run: AgentRun, actor: Actor | None = None) -> None:
    """Record that a run ended. Without an actor, the system ended it."""
    record_run("finished", run, actor or system_actor(run))


def record_step(run: AgentRun) -> None:
    """Notify the pages that show the run."""
    payload: JsonObject = {"id": str(run.pk)}
    outbox.record("run.step", actor=system_actor(run), post_id=run.post_id, payload=payload)


def system_actor(run: AgentRun) -> Actor:
    """Return the system as actor on behalf of a run."""
    return Actor(
        user=SYSTEM,
        via="system",
        agent_id=run.agent_id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
    )


MAX_SUMMARY_CHARACTERS: Final = 1000
MAX_NAME_CHARACTERS: Final = 120


@transaction.atomic
def add_step(run: AgentRun, step: StepRecord) -> bool:
    """Store a step, also of a run that was cancelled meanwhile.

    Returns False and stores nothing if another worker has the run.
    """
    # The lock keeps two steps from getting the same number.
    rows = AgentRun.objects.select_for_update(no_key=True).filter(pk=run.pk)
    if rows.values_list("attempt", flat=True).first() != run.attempt:
        return False
    last = RunStep.objects.filter(run_id=run.pk).aggregate(last=Max("number"))["last"] or 0
    RunStep.objects.create(
        run_id=run.pk,
        number=last + 1,
        kind=step.kind,
        name=step.name[:MAX_NAME_CHARACTERS],
        ok=step.ok,
        milliseconds=step.milliseconds,
        summary=step.summary[:MAX_SUMMARY_CHARACTERS],
    )
    record_step(run)
    return True


def add_usage(
    run: AgentRun,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cost: Decimal | None = None,
    cached_tokens: int = 0,
    saved: Decimal = Decimal(0),
) -> None:
    """Add usage to the run. An unknown cost adds nothing."""
    spent: dict[str, object] = {
        "input_tokens": F("input_tokens") + input_tokens,
        "output_tokens": F("output_tokens") + output_tokens,
        "cached_tokens": F("cached_tokens") + cached_tokens,
        "saved": F("saved") + saved,
    }
    if cost is not None:
        none = Value(Decimal(0), output_field=DecimalField(max_digits=12, decimal_places=6))
        spent["cost"] = Coalesce(F("cost"), none) + cost
    AgentRun.objects.filter(pk=run.pk).update(**spent)


def mark_refused(run: AgentRun, refused: str) -> None:
    """Mark the latest answer as refused by the content rules."""
    last = run.steps.filter(kind="model").order_by("-number").first()
    if last is not None:
        run.steps.filter(pk=last.pk).update(
            ok=False, summary=f"refused: {refused}"[:MAX_SUMMARY_CHARACTERS]
        )


WAITING_TEXT: Final = "Waiting for the model"
_ACTIVITY_SECONDS: Final = 1.0
_CHARACTERS_PER_WORD: Final = 6


class ActivityText:
    """Writes the run's activity into its row, at most once a second while an answer grows."""

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self._said = ""
        self._next = 0.0

    def say(self, text: str) -> None:
        """Store a new activity. The text must be this service's own."""
        if text != self._said:
            self._said, self._next = text, time.monotonic() + _ACTIVITY_SECONDS
            owned_rows(self._run).update(doing=text[:200])

    def wrote(self, characters: int) -> None:
        """Report the length of the answer received so far."""
        if time.monotonic() >= self._next:
            words = max(characters // _CHARACTERS_PER_WORD, 1)
            # Rounded, so that the text changes, and is written, less often.
            rounded = words if words < 20 else words // 10 * 10
            self.say(f"Writing, about {rounded:,} words so far")


MAX_MESSAGE_CHARACTERS: Final = 200_000
"""Maximum characters of one message."""
MAX_TRANSCRIPT_CHARACTERS: Final = 1_000_000
"""Maximum characters of one attempt at a run."""
MAX_MESSAGES: Final = 500
CUT_MARK: Final = "\n[…]"


class Transcript:
    """The messages of one attempt. They are buffered until the next `keep`."""

    def __init__(self, run: AgentRun, redactor: RunRedactor) -> None:
        self._run = run
        self.redactor = redactor
        self._waiting: list[RunMessage] = []
        self._left = MAX_TRANSCRIPT_CHARACTERS
        self._messages = 0

    def add(self, role: str, name: str, text: str) -> None:
        if role == "tool":
            self.redactor.add_tool_answer(name, text)
        self._messages += 1
        # Not stored any more, but its texts were added to the redactor above.
        if self._messages > MAX_MESSAGES:
            return
        stored = (
            self.redactor.redact_answer(name, text)
            if role == "tool"
            else self.redactor.redact(text)
        )
        most = min(MAX_MESSAGE_CHARACTERS, self._left)
        is_cut = len(stored) > most
        stored = stored[:most] + CUT_MARK if is_cut else stored
        self._left -= min(len(stored), self._left)
        self._waiting.append(
            RunMessage(
                run_id=self._run.pk,
                role=role,
                name=self.redactor.redact(name)[:MAX_NAME_CHARACTERS],
                text=stored,
                is_cut=is_cut,
            )
        )

    def keep(self) -> None:
        """Store buffered messages if this worker still owns the run."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        with transaction.atomic():
            # The lock keeps two messages from getting the same number.
            if not owned_rows(self._run).select_for_update(no_key=True).values("pk"):
                return
            rows = RunMessage.objects.filter(run_id=self._run.pk)
            last = rows.aggregate(last=Max("number"))["last"] or 0
            for number, message in enumerate(waiting, last + 1):
                message.number = number
            RunMessage.objects.bulk_create(waiting)


class RunWatcher(ConversationWatcher):
    """The conversation watcher of one attempt at a run."""

    def __init__(self, run: AgentRun, choice: ProviderChoice, transcript: Transcript) -> None:
        self._run = run
        self._choice = choice
        self._transcript = transcript
        self._reservation: Reservation | None = None
        self.doing = ActivityText(run)

    def before_request(self, *, input_tokens: int, output_tokens: int) -> None:
        """Reserve budget. Raises `ProviderStopped`, or `BudgetExceeded`."""
        require_ownership(self._run)
        self._transcript.keep()
        self.doing.say(WAITING_TEXT)
        self._reservation = reserve(
            agent_id=self._run.agent_id,
            run=self._run,
            tokens=input_tokens + output_tokens,
            cost=cost_of(self._choice, input_tokens, output_tokens),
            input_tokens=input_tokens,
        )

    def after_request(self, step: StepRecord, *, input_tokens: int, output_tokens: int) -> None:
        """Settle the request in the run and its budget, even if the run is over, because it was spent."""
        reservation, self._reservation = self._reservation, None
        with transaction.atomic():
            # Lock the run before the budgets, in the same order as all code that locks both.
            is_its = add_step(self._run, step)
            tokens = input_tokens + output_tokens
            # If the sweep settled the request, it already counts as fully used.
            if reservation is not None and settle(
                reservation,
                tokens=tokens,
                cost=step.cost,
                cached_tokens=step.cached_tokens,
                saved=step.saved,
            ):
                add_usage(
                    self._run,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                    cost=step.cost,
                    cached_tokens=step.cached_tokens,
                    saved=step.saved,
                )
        if is_its:
            self._transcript.keep()

    def switched(self, choice: ProviderChoice) -> None:
        """Record the outage and the fallback. Its requests are reserved and counted at its own price."""
        previous, self._choice = self._choice, choice
        pause_after_outage(previous)
        if not owned_rows(self._run).update(
            provider=choice.provider, model=choice.model, fallback_from=previous.as_reference()
        ):
            raise run_stopped()

    def heard(self, characters: int) -> None:
        self.doing.wrote(characters)

    def said(
        self, role: Literal["system", "user", "assistant", "tool"], name: str, text: str
    ) -> None:
        self._transcript.add(role, name, text)
