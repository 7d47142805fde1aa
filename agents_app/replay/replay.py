"""Replays of past runs, compared with people's decisions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, Literal

from pydantic import ValidationError

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, RunMessage, RunStatus
from agents_app.providers.interface import ProviderChoice, ProviderError
from agents_app.replay.answers import (
    ReplayInput,
    ReplaySpending,
    UnusableRun,
    ask,
    proposals,
    read_replay_input,
)
from agents_app.runs.suggestion import FieldSuggestion, Suggestion, output_type
from content.document.changes import value_at
from content.document.document import PostDocument
from content.models import Layer, Provenance
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom.definitions.richtext.nodes import to_text

_REJECTIONS: Final = tuple(f"post.{layer.value}.reject" for layer in Layer)
_RECONSIDERED: Final = tuple(f"post.{layer.value}.reconsider" for layer in Layer)
_LOOKED_AT: Final = 20
"""Number of runs loaded for each requested one, because most are undecided or proposed nothing."""


@dataclass(frozen=True, slots=True)
class DecidedRun:
    """A run with its approved values, as they went live, and its rejected paths."""

    run: AgentRun
    approved: Mapping[str, Json]
    rejected: tuple[str, ...] = field(default=())


def decided_runs(agent_id: str, last: int) -> list[DecidedRun]:
    """Return the latest decided runs of an agent, newest first. Three queries."""
    runs = AgentRun.objects.filter(
        agent_id=agent_id, status=RunStatus.SUCCEEDED, post__isnull=False
    ).exclude(staged=[])
    rows = list(runs.order_by("-created_at", "pk")[: last * _LOOKED_AT])
    approved: dict[str, dict[str, Json]] = defaultdict(dict)
    ids = [str(run.pk) for run in rows]
    live = Provenance.objects.filter(run_id__in=ids).select_related("revision").order_by("pk")
    for row in live:
        value = value_at(PostDocument.from_json(row.revision.document), row.path)
        # Whole modules are compared by their props, which have their own paths.
        if isinstance(value, str | int | float | bool | list | tuple | dict) or value is None:
            approved[row.run_id][row.path] = list(value) if isinstance(value, tuple) else value
    # A path can be rejected first and approved later. The approval then counts, see `compare`.
    rejected: dict[str, set[str]] = defaultdict(set)
    by_id = {str(run.pk): run for run in rows}
    posts = {run.post_id for run in rows}
    names = _REJECTIONS + _RECONSIDERED
    for event in Event.objects.filter(name__in=names, post_id__in=posts).order_by("id"):
        paths, of = event.payload.get("paths"), event.payload.get("runs")
        for run_id in of if isinstance(of, list) else ():
            run = by_id.get(str(run_id))
            if run is not None and run.post_id == event.post_id and isinstance(paths, list):
                own = {str(path) for path in paths if path in run.staged}
                paths_so_far = rejected[str(run_id)]
                rejected[str(run_id)] = (
                    paths_so_far | own if event.name in _REJECTIONS else paths_so_far - own
                )
    found = [
        DecidedRun(run, approved[str(run.pk)], tuple(sorted(rejected[str(run.pk)])))
        for run in rows
        if approved[str(run.pk)] or rejected[str(run.pk)]
    ]
    return found[:last]


Outcome = Literal["same", "similar", "different", "missing", "again", "avoided"]
SIMILAR: Final = 0.8
_LONGEST: Final = 4000
"""Maximum characters to compare, because the time grows with the square of the length."""
_AGREES: Final = frozenset({"same", "similar", "avoided"})


@dataclass(frozen=True, slots=True)
class PathComparison:
    """One path. Approved ones are same, similar, different or missing; rejected ones again or avoided."""

    path: str
    decision: Literal["approved", "rejected"]
    outcome: Outcome

    @property
    def agrees(self) -> bool:
        return self.outcome in _AGREES


def compare(
    decided: DecidedRun, earlier: Mapping[str, Json], answer: Mapping[str, Json]
) -> list[PathComparison]:
    """Return a comparison of every decided path. `earlier`: the run's proposals; `answer`: the current ones."""
    found: list[PathComparison] = []
    outcome: Outcome
    for path, wanted in decided.approved.items():
        likeness = alike(wanted, answer[path]) if path in answer else 0
        if path not in answer:
            outcome = "missing"
        elif likeness == 1:
            outcome = "same"
        else:
            outcome = "similar" if likeness >= SIMILAR else "different"
        found.append(PathComparison(path, "approved", outcome))
    for path in decided.rejected:
        if path in decided.approved:
            continue
        is_avoided = path not in answer or (
            path in earlier and alike(earlier[path], answer[path]) < SIMILAR
        )
        outcome = "avoided" if is_avoided else "again"
        found.append(PathComparison(path, "rejected", outcome))
    return found


def alike(one: Json, other: Json) -> float:
    """Return the similarity of the visible text, from 0 to 1."""
    if one == other:
        return 1.0
    left, right = _words(one), _words(other)
    if left == right:
        return 1.0
    # Below 1, because 1 means the same text.
    return min(SequenceMatcher(None, left, right, autojunk=False).ratio(), 0.999)


def _words(value: Json) -> str:
    if isinstance(value, Mapping) and value.get("type") == "doc":
        text = to_text(dict(value))
    else:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return " ".join(text.split())[:_LONGEST]


AnswerSource = Callable[[AgentRun, ReplayInput, ReplaySpending], Suggestion | FieldSuggestion]


@dataclass(slots=True)
class ReplayedRun:
    """One replayed run. `left_out`: reason why it was skipped; `error`: reason why there is no answer."""

    run: AgentRun
    paths: list[PathComparison] = field(default_factory=list)
    spent: ReplaySpending = field(default_factory=ReplaySpending)
    left_out: str = ""
    error: str = ""
    answer: JsonObject | None = None

    @property
    def agreed(self) -> int:
        return sum(item.agrees for item in self.paths)


def replay(decided: Sequence[DecidedRun], answering: AnswerSource) -> Iterator[ReplayedRun]:
    """Ask again, one run after another. Stages nothing."""
    rows = RunMessage.objects.filter(run_id__in=[item.run.pk for item in decided])
    messages: dict[object, list[RunMessage]] = defaultdict(list)
    for row in rows.order_by("run_id", "number"):
        messages[row.run_id].append(row)
    for item in decided:
        done = ReplayedRun(item.run)
        try:
            given = read_replay_input(item.run, messages[item.run.pk])
            answer = answering(item.run, given, done.spent)
            done.answer = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
            now = proposals(answer, given.document, given.target)
            done.paths = compare(item, given.proposed, now)
        except UnusableRun as error:
            done.left_out = str(error)
        except ProviderError as error:
            done.error = str(error)
        except CmsError as error:
            done.error = f"The answer cannot stand: {error.message}"
        yield done


def by_asking(agent: AgentDefinition, choice: ProviderChoice) -> AnswerSource:
    """Return a source of answers from the current prompt and model."""
    return lambda run, given, spent: ask(agent, choice, run, given, spent)


def from_recorded(answers: Mapping[str, JsonObject]) -> AnswerSource:
    """Return a source of answers recorded by an earlier replay, by run id."""

    def answering(
        run: AgentRun, given: ReplayInput, spent: ReplaySpending
    ) -> Suggestion | FieldSuggestion:
        if str(run.pk) not in answers:
            raise UnusableRun("the record holds no answer for it")
        try:
            return output_type(run.scope).model_validate(answers[str(run.pk)])
        except ValidationError:
            raise UnusableRun("its recorded answer has another form") from None

    return answering
