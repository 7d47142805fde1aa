"""A replay, run by run, and what it comes to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from agents_app.definitions.schema import AgentDefinition
from agents_app.models import AgentRun, RunMessage
from agents_app.providers.port import ProviderChoice, ProviderError
from agents_app.replay.asking import ReplaySpending, ask
from agents_app.replay.comparing import PathComparison, compare
from agents_app.replay.decisions import DecidedRun
from agents_app.replay.inputs import ReplayInput, UnusableRun, given_to, proposals
from agents_app.runs.suggestion import FieldSuggestion, Suggestion, output_type
from core.errors import CmsError
from core.json import JsonObject

Answering = Callable[[AgentRun, ReplayInput, ReplaySpending], Suggestion | FieldSuggestion]


@dataclass(slots=True)
class ReplayedRun:
    """One run asked again. `left_out` says why it was not asked, `error` why there is no answer."""

    run: AgentRun
    paths: list[PathComparison] = field(default_factory=list)
    spent: ReplaySpending = field(default_factory=ReplaySpending)
    left_out: str = ""
    error: str = ""
    answer: JsonObject | None = None

    @property
    def agreed(self) -> int:
        return sum(item.agrees for item in self.paths)


def replay(decided: Sequence[DecidedRun], answering: Answering) -> Iterator[ReplayedRun]:
    """Ask again, one after the other. Stages nothing."""
    rows = RunMessage.objects.filter(run_id__in=[item.run.pk for item in decided])
    messages: dict[object, list[RunMessage]] = defaultdict(list)
    for row in rows.order_by("run_id", "number"):
        messages[row.run_id].append(row)
    for item in decided:
        yield _one(item, messages[item.run.pk], answering)


def _one(decided: DecidedRun, messages: Sequence[RunMessage], answering: Answering) -> ReplayedRun:
    done = ReplayedRun(decided.run)
    try:
        given = given_to(decided.run, messages)
        answer = answering(decided.run, given, done.spent)
        done.answer = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        now = proposals(answer, given.document, given.target)
        done.paths = compare(decided, given.proposed, now)
    except UnusableRun as error:
        done.left_out = str(error)
    except ProviderError as error:
        done.error = str(error)
    except CmsError as error:
        done.error = f"The answer cannot stand: {error.message}"
    return done


def by_asking(agent: AgentDefinition, choice: ProviderChoice) -> Answering:
    """Answers of the present prompt and model."""
    return lambda run, given, spent: ask(agent, choice, run, given, spent)


def from_recorded(answers: Mapping[str, JsonObject]) -> Answering:
    """Answers that an earlier replay kept, by the id of the run."""

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
