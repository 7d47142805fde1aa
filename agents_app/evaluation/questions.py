"""One question of an evaluation, asked to a version of an agent, and its answer compared with the decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypedDict, cast

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, RunMessage
from agents_app.providers.interface import ProviderChoice, ProviderError
from agents_app.providers.prices import cost_of
from agents_app.replay.answers import (
    ReplayInput,
    ReplaySpending,
    SpendingLimitReached,
    ask,
    proposals,
    read_replay_input,
)
from agents_app.replay.replay import DecidedRun, alike, compare
from agents_app.runs.examples import is_held_out
from agents_app.runs.suggestion import FieldSuggestion, Suggestion, edit_for
from content.document.changes import diff
from content.post_checks.proposals import find_broken_rules
from proofroom.briefs.effective import EffectiveBrief
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject


class ComparedPath(TypedDict):
    """A decision and the answer to it. `distance`: from the approved text, 0 to 1; None if it was rejected."""

    path: str
    decision: str
    outcome: str
    agrees: bool
    distance: float | None
    heldOut: bool


class StoredAnswer(TypedDict):
    """The answer of one version, as an evaluation stores it. `error`: why there is none."""

    values: dict[str, Json]
    paths: list[ComparedPath]
    summary: str
    declined: str
    failedChecks: list[str]
    inputTokens: int
    outputTokens: int
    cost: float
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version of an agent with the provider that answers for it, and its brief.

    `brief` is None for the present brief of each post.
    """

    agent: AgentDefinition
    choice: ProviderChoice
    brief: EffectiveBrief | None = None

    @property
    def has_price(self) -> bool:
        return cost_of(self.choice, 1, 1) is not None


class EvaluationStopped(Exception):
    """No further question can be asked; the message says why. Not raised for an answer that failed."""


def read_question(run: AgentRun) -> ReplayInput:
    """Return the input of a run. Raises `UnusableRun`. One query."""
    rows = RunMessage.objects.filter(run_id=run.pk).order_by("number")
    return read_replay_input(run, list(rows))


def ask_version(
    version: AskedVersion, decided: DecidedRun, given: ReplayInput, left: Decimal
) -> tuple[StoredAnswer, bool]:
    """Return the answer, and whether the limit stopped it. `left`: US dollars that it may cost.

    A failed answer is stored with its error, because failing is a property of the version.
    """
    # Imported here, because only budgets of agents raise it.
    from agents_app.budgets.limits import BudgetExceeded

    spent = ReplaySpending(most_cost=left)
    found: Suggestion | FieldSuggestion | None = None
    values: dict[str, Json] = {}
    failed: list[str] = []
    error, is_stopped = "", False
    try:
        found = ask(version.agent, version.choice, decided.run, given, spent, brief=version.brief)
        values = proposals(found, given.document, given.target)
        failed = _failed_checks(decided.run, found, given)
    except (SpendingLimitReached, BudgetExceeded) as stop:
        error, is_stopped = str(stop), True
    except ProviderError as problem:
        error = str(problem)
    except CmsError as problem:
        error = problem.message
    answer: StoredAnswer = {
        "values": values,
        "paths": [] if error else list(_compared(decided, given, values)),
        "summary": (found.summary or "") if found is not None else "",
        "declined": (found.declined or "") if found is not None else "",
        "failedChecks": failed,
        "inputTokens": spent.input_tokens,
        "outputTokens": spent.output_tokens,
        "cost": float(spent.cost),
        "seconds": round(spent.seconds, 2),
        "error": error,
    }
    return answer, is_stopped


def _compared(
    decided: DecidedRun, given: ReplayInput, values: dict[str, Json]
) -> Iterable[ComparedPath]:
    for one in compare(decided, given.proposed, values):
        distance = None
        if one.decision == "approved" and one.path in values:
            distance = round(1 - alike(decided.approved[one.path], values[one.path]), 3)
        yield {
            "path": one.path,
            "decision": one.decision,
            "outcome": one.outcome,
            "agrees": one.agrees,
            "distance": distance,
            "heldOut": decided.run.post_id is not None
            and is_held_out(post_id=decided.run.post_id, path=one.path),
        }


def _failed_checks(
    run: AgentRun, answer: Suggestion | FieldSuggestion, given: ReplayInput
) -> list[str]:
    """Return the checks that the answer would break, as reviewers would see them on its changes."""
    if run.post is None or answer.declined is not None:
        return []
    after = edit_for(answer, given.target)(given.document)
    changes = diff(given.document, after)
    found = find_broken_rules(run.post, given.document, after, changes)
    return [rule.label for rules in found.values() for rule in rules]


def stored_decisions(decided: DecidedRun) -> JsonObject:
    return {"approved": dict(decided.approved), "rejected": list(decided.rejected)}


def decisions_of(run: AgentRun, stored: JsonObject) -> DecidedRun:
    """Return the decisions of a run as `stored_decisions` stored them."""
    approved = cast("dict[str, Json]", stored.get("approved") or {})
    rejected = cast("Sequence[str]", stored.get("rejected") or ())
    return DecidedRun(run, approved, tuple(rejected))
