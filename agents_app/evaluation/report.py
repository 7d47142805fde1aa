"""The figures of an evaluation: both versions side by side, with intervals and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean
from typing import Literal, TypeVar, cast

from agents_app.evaluation.questions import ComparedPath, StoredAnswer
from agents_app.evaluation.statistics import Verdict, judge, mean_interval, paired_difference
from agents_app.models import Evaluation, EvaluationItem, ItemState
from analytics.experiments.confidence import Range, Tally, wilson

Side = Literal["champion", "challenger"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SideFigures:
    """The figures of one version.

    `agreed` of `decisions`; `distance`: the mean distance of its answers from the approved texts, 0 to 1.
    `cost`, `seconds` and `failed_checks` are means of a run.
    """

    decisions: int = 0
    agreed: int = 0
    agreement: float | None = None
    agreement_range: Range | None = None
    distance: float | None = None
    failed_checks: float | None = None
    cost: float | None = None
    seconds: float | None = None
    errors: int = 0
    total_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class PartFigures:
    """Both versions in all questions, or in the held-out decisions. Ranges are of challenger minus champion."""

    champion: SideFigures
    challenger: SideFigures
    runs: int
    verdict: Verdict
    agreement_difference: Range | None = None
    distance_difference: Range | None = None
    cost_difference: Range | None = None
    seconds_difference: Range | None = None
    checks_difference: Range | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """`everything` are all decisions, `held_out` the ones that no prompt ever gets as an example."""

    everything: PartFigures
    held_out: PartFigures
    asked: int
    skipped: int
    left: int
    items: Sequence[EvaluationItem] = field(default_factory=tuple)


def report_of(job: Evaluation) -> Report:
    """Return the figures so far. One query."""
    items = list(job.items.select_related("run__post").order_by("position"))
    done = [item for item in items if item.state == ItemState.DONE]
    return Report(
        everything=_part(done, lambda path: True),
        held_out=_part(done, lambda path: path["heldOut"]),
        asked=len(done),
        skipped=sum(item.state == ItemState.SKIPPED for item in items),
        left=sum(item.state in (ItemState.LEFT, ItemState.WAITING) for item in items),
        items=items,
    )


def _part(items: Sequence[EvaluationItem], is_in: Callable[[ComparedPath], bool]) -> PartFigures:
    pairs = [
        (_of(item, "champion"), _of(item, "challenger"))
        for item in items
        if any(is_in(path) for side in _sides(item) for path in side["paths"])
    ]
    gained = lost = number = 0
    for champion, challenger in pairs:
        if champion["error"] and challenger["error"]:
            continue
        first, second = _agreeing(champion, is_in), _agreeing(challenger, is_in)
        # A version without an answer agrees with no decision.
        for path in {*first, *second}:
            one, other = first.get(path, False), second.get(path, False)
            gained += other and not one
            lost += one and not other
            number += 1
    difference = paired_difference(gained=gained, lost=lost, number=number)
    return PartFigures(
        champion=_side([pair[0] for pair in pairs], is_in),
        challenger=_side([pair[1] for pair in pairs], is_in),
        runs=len(pairs),
        verdict=judge(difference, decisions=number, runs=len(pairs)),
        agreement_difference=difference,
        distance_difference=_difference(pairs, lambda one: _distance(one, is_in)),
        cost_difference=_difference(pairs, lambda one: one["cost"]),
        seconds_difference=_difference(pairs, lambda one: one["seconds"]),
        checks_difference=_difference(pairs, lambda one: float(len(one["failedChecks"]))),
    )


def _side(answers: Sequence[StoredAnswer], is_in: Callable[[ComparedPath], bool]) -> SideFigures:
    paths = [path for one in answers for path in one["paths"] if is_in(path)]
    agreed = sum(path["agrees"] for path in paths)
    distances = [path["distance"] for path in paths if path["distance"] is not None]
    costs = [one["cost"] for one in answers]
    return SideFigures(
        decisions=len(paths),
        agreed=agreed,
        agreement=agreed / len(paths) if paths else None,
        agreement_range=wilson(Tally(len(paths), agreed)) if paths else None,
        distance=fmean(distances) if distances else None,
        failed_checks=_mean(len(one["failedChecks"]) for one in answers),
        cost=_mean(costs),
        seconds=_mean(one["seconds"] for one in answers),
        errors=sum(bool(one["error"]) for one in answers),
        total_cost=sum(costs),
    )


def _of(item: EvaluationItem, side: Side) -> StoredAnswer:
    return cast(StoredAnswer, getattr(item, side))


def _sides(item: EvaluationItem) -> tuple[StoredAnswer, StoredAnswer]:
    return _of(item, "champion"), _of(item, "challenger")


def _agreeing(answer: StoredAnswer, is_in: Callable[[ComparedPath], bool]) -> dict[str, bool]:
    return {path["path"]: path["agrees"] for path in answer["paths"] if is_in(path)}


def _distance(answer: StoredAnswer, is_in: Callable[[ComparedPath], bool]) -> float | None:
    found = [path["distance"] for path in answer["paths"] if is_in(path)]
    known = [one for one in found if one is not None]
    return fmean(known) if known else None


def _difference(
    pairs: Iterable[tuple[StoredAnswer, StoredAnswer]],
    value: Callable[[StoredAnswer], float | None],
) -> Range | None:
    both = ((value(challenger), value(champion)) for champion, challenger in pairs)
    return mean_interval(
        [one - other for one, other in both if one is not None and other is not None]
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(chain(values))
    return fmean(found) if found else None
