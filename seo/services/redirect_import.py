"""Import of many redirects, all or none. Existing ones are changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from content.store.post_queries import published_posts
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.caching.content_version import lock_content_version
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from seo.models import Redirect
from seo.redirect_csv import LineProblem, RedirectLine, problem_of, read_lines
from seo.redirect_paths import key_of, path_in, query_of, with_query
from seo.services.redirects import MAX_CHAIN, aim, redirect_loop_error, require_redirect_editor

_BATCH_ROWS: Final = 500
_MAX_PROBLEMS_TOLD: Final = 100
_WRITTEN_COLUMNS: Final = ("to_path", "to_key", "type", "is_active", "updated_at")


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The numbers of an import, done or only checked."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: list[LineProblem] = field(default_factory=list)


@dataclass(slots=True)
class RedirectPlan:
    """The rows of the lines, and existing redirects to them that must change too."""

    new: list[Redirect] = field(default_factory=list)
    changed: list[Redirect] = field(default_factory=list)
    led_here: list[Redirect] = field(default_factory=list)
    unchanged: int = 0
    problems: list[LineProblem] = field(default_factory=list)

    @property
    def outcome(self) -> ImportResult:
        return ImportResult(len(self.new), len(self.changed), self.unchanged, self.problems)


def check_import(*, text: str, actor: Actor) -> ImportResult:
    """Check an import without changes. Return its numbers and the problems of all lines."""
    require_redirect_editor(actor)
    return plan_import(*read_lines(text)).outcome


@transaction.atomic
def import_redirects(*, text: str, actor: Actor) -> ImportResult:
    """Import redirects. A single problem raises `RuleViolation`, and nothing is changed."""
    require_redirect_editor(actor)
    lines, problems = read_lines(text)
    # All writers of redirects take this lock, so that no other transaction closes a loop meanwhile.
    lock_content_version()
    plan = plan_import(lines, problems)
    if plan.problems:
        raise refuse_import(plan.problems)
    # `bulk_update` doesn't set `auto_now` fields.
    for row in plan.changed + plan.led_here:
        row.updated_at = timezone.now()
    Redirect.objects.bulk_create(plan.new, batch_size=_BATCH_ROWS)
    Redirect.objects.bulk_update(
        plan.changed + plan.led_here, _WRITTEN_COLUMNS, batch_size=_BATCH_ROWS
    )
    if plan.new or plan.changed:
        counts = {"created": len(plan.new), "changed": len(plan.changed)}
        payload: JsonObject = {"what": "redirect", "did": "imported", **counts}
        outbox.record("content.changed", actor=actor, payload=payload)
    return plan.outcome


def plan_import(lines: Sequence[RedirectLine], problems: Sequence[LineProblem]) -> RedirectPlan:
    """Check the lines against each other, and against existing redirects and posts."""
    plan = RedirectPlan(problems=list(problems))
    if plan.problems:
        # The effects of the other lines depend on the refused ones.
        return plan
    standing = {
        row.from_key: row
        for row in find_by_key("from_key", [key_of(item.from_path) for item in lines])
    }
    paths_in_use = published_paths([item.from_path for item in lines if item.is_active])
    rows = []
    for item in lines:
        row = Redirect(type=item.type, is_active=item.is_active)
        present = standing.get(key_of(item.from_path))
        if present is not None:
            row.pk, row.created_at, row.hits = present.pk, present.created_at, present.hits
            # Built from the existing row, so Django must treat it as saved.
            row.is_automatic = present.is_automatic
            row._state.adding = False
        aim(row, item.from_path, item.to_path)
        rows.append((item, row))
    chains = RedirectChains([row for _, row in rows])
    for item, row in rows:
        before = standing.get(row.from_key)
        try:
            is_new = before is None or not before.is_active
            if item.is_active and is_new and item.from_path in paths_in_use:
                sentence = gettext("A published post has the address %(from_path)s.") % {
                    "from_path": item.from_path
                }
                raise RuleViolation(sentence, details={"fromPath": [sentence]})
            aim(row, row.from_path, chains.end_of(row))
        except RuleViolation as error:
            plan.problems.append(problem_of(item.number, error))
            continue
        if before is None:
            plan.new.append(row)
        elif (before.to_path, before.type, before.is_active) != (
            row.to_path,
            row.type,
            row.is_active,
        ):
            plan.changed.append(row)
        else:
            plan.unchanged += 1
    if not plan.problems:
        # Existing redirects to a source address of this import now lead directly to its target.
        ends = {
            row.from_key: row.to_path
            for _, row in rows
            if row.is_active and row.from_path not in paths_in_use
        }
        plan.led_here = [
            other
            for other in find_by_key("to_key", ends)
            if other.is_active
            and other.from_key not in ends
            and key_of(path_in(ends[other.to_key])) != other.from_key
        ]
        for other in plan.led_here:
            to_path = with_query(ends[other.to_key], query_of(other.to_path))
            aim(other, other.from_path, to_path)
    return plan


class RedirectChains:
    """Follows redirects to their end, through the import and existing ones.

    A redirect at the address of a published post is inactive.
    """

    def __init__(self, rows: Sequence[Redirect]) -> None:
        own = {row.from_key for row in rows}
        shadowed = published_paths([row.from_path for row in rows])
        self._leads = {
            row.from_key: (row.to_path, row.to_key)
            for row in rows
            if row.is_active and row.from_path not in shadowed
        }
        wanted = {row.to_key for row in rows}
        for _ in range(MAX_CHAIN):
            wanted = wanted - set(self._leads) - own - {""}
            found = [row for row in find_by_key("from_key", wanted) if row.is_active]
            if not found:
                break
            shadowed = published_paths([row.from_path for row in found])
            found = [row for row in found if row.from_path not in shadowed]
            self._leads |= {row.from_key: (row.to_path, row.to_key) for row in found}
            wanted = {row.to_key for row in found}

    def end_of(self, row: Redirect) -> str:
        """Return the final target of the row. Raises `RuleViolation` for a loop."""
        to_path, key = row.to_path, row.to_key
        if not row.is_active:
            if key == row.from_key:
                raise redirect_loop_error(row)
            return to_path
        for _ in range(MAX_CHAIN):
            if key == row.from_key:
                break
            if key not in self._leads:
                return to_path
            following, key = self._leads[key]
            to_path = with_query(following, query_of(to_path))
        raise redirect_loop_error(row)


def published_paths(paths: Iterable[str]) -> set[str]:
    """Return the paths that have a published post. One query per batch."""
    found: set[str] = set()
    for part in batches(paths):
        found.update(published_posts().filter(path__in=part).values_list("path", flat=True))
    return found


def find_by_key(column: str, keys: Iterable[str]) -> Iterator[Redirect]:
    """Yield redirects with one of these keys in a column, in batches."""
    for part in batches(sorted(keys)):
        yield from Redirect.objects.filter(**{f"{column}__in": part})


def refuse_import(problems: Sequence[LineProblem]) -> RuleViolation:
    """Return the error of an import, with its problems by line and column."""
    details: dict[str, list[str]] = {}
    for problem in problems[:_MAX_PROBLEMS_TOLD]:
        name = f"lines.{problem.line}" + (f".{problem.field}" if problem.field else "")
        details.setdefault(name, []).append(problem.sentence)
    first = problems[0]
    return RuleViolation(
        gettext(
            "Nothing was imported: %(number)s of the lines have errors. Line %(line)s: %(sentence)s"
        )
        % {"number": len(problems), "line": first.line, "sentence": first.sentence},
        code="invalid_lines",
        details=details,
    )
