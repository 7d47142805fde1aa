"""Import: many redirects at once, all of them or none. What is there already changes, the rest is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from content.queries import published_posts
from core import events
from core.actor import Actor
from core.errors import RuleViolation
from core.json import JsonObject
from seo.addresses import key_of, query_of, with_query
from seo.models import Redirect
from seo.redirect_lines import Line, Problem, read
from seo.services.redirects import LONGEST_CHAIN, aim, allow, loop_of

_AT_A_TIME: Final = 500
_TOLD: Final = 100
"""Problems that a refusal names."""
_COLUMNS: Final = ("to_path", "to_key", "type", "is_active", "updated_at")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Plan:
    """The rows of the lines, and of redirects that lead to them, as they will be."""

    new: list[Redirect] = field(default_factory=list)
    changed: list[Redirect] = field(default_factory=list)
    led_here: list[Redirect] = field(default_factory=list)
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def outcome(self) -> Imported:
        return Imported(len(self.new), len(self.changed), self.unchanged, self.problems)


def check_import(*, text: str, actor: Actor) -> Imported:
    """What `import_redirects` would do, and every line that is refused. Changes nothing."""
    allow(actor)
    return _plan(*read(text)).outcome


@transaction.atomic
def import_redirects(*, text: str, actor: Actor) -> Imported:
    """Lead on from each line's address. One line that is refused, and nothing is changed: `RuleViolation`."""
    allow(actor)
    lines, problems = read(text)
    # As every writer of redirects does, so that nobody closes a loop meanwhile.
    events.lock_content_version()
    plan = _plan(lines, problems)
    if plan.problems:
        raise _refused(plan.problems)
    for row in plan.changed + plan.led_here:
        row.updated_at = timezone.now()
    Redirect.objects.bulk_create(plan.new, batch_size=_AT_A_TIME)
    Redirect.objects.bulk_update(plan.changed + plan.led_here, _COLUMNS, batch_size=_AT_A_TIME)
    if plan.new or plan.changed:
        counts = {"created": len(plan.new), "changed": len(plan.changed)}
        payload: JsonObject = {"what": "redirect", "did": "imported", **counts}
        events.record("content.changed", actor=actor, payload=payload)
    return plan.outcome


def _plan(lines: Sequence[Line], problems: Sequence[Problem]) -> _Plan:
    plan = _Plan(problems=list(problems))
    if plan.problems:
        return plan  # what the other lines would do depends on these
    standing = {
        row.from_key: row for row in _rows("from_key", [key_of(item.from_path) for item in lines])
    }
    shown = set(_shown([item.from_path for item in lines if item.is_active]))
    rows = [(item, _row_of(item, standing.get(key_of(item.from_path)))) for item in lines]
    ends = _Ends([row for _, row in rows])
    for item, row in rows:
        before = standing.get(row.from_key)
        try:
            if item.is_active and item.from_path in shown:
                sentence = gettext("A published post stands at %(from_path)s.") % {
                    "from_path": item.from_path
                }
                raise RuleViolation(sentence, details={"fromPath": [sentence]})
            aim(row, row.from_path, ends.of(row))
        except RuleViolation as error:
            plan.problems.append(Problem(item.number, next(iter(error.details), ""), error.message))
            continue
        if before is None:
            plan.new.append(row)
        elif _state(before) != _state(row):
            plan.changed.append(row)
        else:
            plan.unchanged += 1
    if not plan.problems:
        plan.led_here = _led_here([row for _, row in rows if row.is_active])
    return plan


def _row_of(item: Line, standing: Redirect | None) -> Redirect:
    row = Redirect(type=item.type, is_active=item.is_active)
    if standing is not None:
        row.pk, row.created_at, row.hits = standing.pk, standing.created_at, standing.hits
        row.is_automatic = standing.is_automatic
        row._state.adding = False
    aim(row, item.from_path, item.to_path)
    return row


def _state(row: Redirect) -> tuple[str, int, bool]:
    return (row.to_path, row.type, row.is_active)


class _Ends:
    """Where visitors end up, by the rows of the import and, where it has none, by those that stand."""

    def __init__(self, rows: Sequence[Redirect]) -> None:
        own = {row.from_key for row in rows}
        self._leads = {row.from_key: (row.to_path, row.to_key) for row in rows if row.is_active}
        wanted = {row.to_key for row in rows}
        for _ in range(LONGEST_CHAIN):
            wanted = wanted - set(self._leads) - own - {""}
            found = [row for row in _rows("from_key", wanted) if row.is_active]
            if not found:
                break
            self._leads |= {row.from_key: (row.to_path, row.to_key) for row in found}
            wanted = {row.to_key for row in found}

    def of(self, row: Redirect) -> str:
        """Where the row leads straight to; a loop is a `RuleViolation`."""
        to_path, key = row.to_path, row.to_key
        if not row.is_active:
            if key == row.from_key:
                raise loop_of(row)
            return to_path
        for _ in range(LONGEST_CHAIN):
            if key == row.from_key:
                break
            if key not in self._leads:
                return to_path
            following, key = self._leads[key]
            to_path = with_query(following, query_of(to_path))
        raise loop_of(row)


def _led_here(rows: Sequence[Redirect]) -> list[Redirect]:
    """Redirects that led to where one of these leads on from now: they lead to its end."""
    ends = {row.from_key: row.to_path for row in rows}
    others = [
        other for other in _rows("to_key", ends) if other.is_active and other.from_key not in ends
    ]
    for other in others:
        aim(other, other.from_path, with_query(ends[other.to_key], query_of(other.to_path)))
    return others


def _rows(column: str, keys: Iterable[str]) -> Iterator[Redirect]:
    for part in _parts(sorted(keys)):
        yield from Redirect.objects.filter(**{f"{column}__in": part})


def _shown(paths: Sequence[str]) -> Iterator[str]:
    for part in _parts(paths):
        yield from published_posts().filter(path__in=part).values_list("path", flat=True)


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for begin in range(0, len(items), _AT_A_TIME):
        yield items[begin : begin + _AT_A_TIME]


def _refused(problems: Sequence[Problem]) -> RuleViolation:
    details: dict[str, list[str]] = {}
    for problem in problems[:_TOLD]:
        name = f"lines.{problem.line}" + (f".{problem.field}" if problem.field else "")
        details.setdefault(name, []).append(problem.sentence)
    first = problems[0]
    return RuleViolation(
        gettext(
            "Nothing is imported: %(number)s of the lines do not fit. Line %(line)s: %(sentence)s"
        )
        % {"number": len(problems), "line": first.line, "sentence": first.sentence},
        code="invalid_lines",
        details=details,
    )
