"""Replacement of chosen hits, a few rows at a time: started and cancelled by a user, run by a worker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.find_replace.documents import MODULES, POSTS
from content.find_replace.hits import ChosenSubstitution, Hit, find_hits
from content.find_replace.review import REVIEW_TABLES, edit_review_of
from content.find_replace.services import (
    apply_edit,
    record,
    require_no_problems,
    require_targets,
    save_replaced_places,
)
from content.models import JobState, Layer, PostModule, Replacement
from content.store.page_locks import locked_by_others
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.runner import PartRunner
from proofroom.core.batches import batches
from proofroom.core.content_scope import limit_to_own_runs
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.find_replace import TextPlace, known_tables

PART_SIZE: Final = 25
"""Number of rows per transaction. Up to this many are replaced in the request, more by a worker."""
Unit = tuple[str, str, tuple[tuple[str, str], ...], tuple[str, ...]]
"""First table of the source, row (for modules the id of the post), rows by table, keys of the hits."""


class ReplacementRunner(PartRunner[Replacement, Unit]):
    """Runs replacements. A refused value ends the replacement."""

    model = Replacement
    task: ClassVar[str] = "content.tasks.run_replacement"
    noun: ClassVar[str] = "replacement"
    defect_text = gettext_lazy(
        "Something went wrong. What was replaced until then stays, and can be undone. Check the log."
    )

    def next_part(self, job: Replacement) -> list[Unit]:
        part: list[Unit] = job.pending[:PART_SIZE]
        return part

    def do_part(self, job: Replacement, part: Sequence[Unit], actor: Actor) -> None:
        places, missed, why = _replace_part(job, part, actor)
        save_replaced_places(job, places)
        job.counts = dict(Counter(job.counts) + Counter(place.table for place in places))
        job.total += len(places)
        job.missed += missed
        job.why = job.why or why
        job.pending = job.pending[len(part) :]

    def on_end(self, job: Replacement, actor: Actor | None) -> None:
        if job.total and job.by is not None:
            record("replaced", job, Actor(user=job.by, via="admin"))


REPLACEMENTS: Final = ReplacementRunner()


def start_replacement(
    *,
    actor: Actor,
    find: str,
    replace: str,
    tables: Collection[str],
    is_case_sensitive: bool = True,
    is_whole_words: bool = False,
    to_review: bool = False,
    chosen: Collection[str],
    left_out: Collection[str] | None = None,
) -> Replacement:
    """Replace the chosen hits, or all except `left_out`; in Review with `to_review`.

    Small replacements are done on return, large ones run in a worker. Raises `RuleViolation` if none of the
    hits exists any more.
    """
    layer = Layer.REVIEW.value if to_review else ""
    actor.require_session("find and replace")
    require_targets(actor, tables, layer)
    if to_review and not set(tables) <= REVIEW_TABLES:
        raise invalid(
            "tables", _("Only posts and their modules can be sent to Review. Leave out the rest.")
        )
    finder = find_hits(
        actor=actor,
        find=find,
        replace=replace,
        tables=tables,
        is_case_sensitive=is_case_sensitive,
        is_whole_words=is_whole_words,
    )
    picked = set(chosen)
    skipped = set(left_out or ())
    hits = [
        hit
        for hit in finder.hits
        if (hit.key in picked or (left_out is not None and hit.key not in skipped))
        and not finder.problem(hit)
    ]
    if not hits:
        raise RuleViolation(
            _("The selected text can no longer be replaced. Search again and select."),
            code="nothing_chosen",
        )
    units = _units(hits)
    row = REPLACEMENTS.create(
        actor,
        find=find,
        replace=replace,
        case_sensitive=is_case_sensitive,
        whole_words=is_whole_words,
        tables=[table for table in known_tables() if table in tables],
        counts={},
        layer=layer,
        state=JobState.RUNNING,
        planned=len(units),
        pending=units,
        missed=len(picked - {hit.key for hit in hits}),
    )
    return REPLACEMENTS.begin(row, at_once=len(units) <= PART_SIZE)


def visible_replacements(rows: QuerySet[Replacement], actor: Actor) -> QuerySet[Replacement]:
    """Return the replacements the actor may see: only their own with limited scopes, because a replacement
    contains texts of any post."""
    return limit_to_own_runs(rows, actor, actor.user.pk)


def cancel_replacement(*, replacement_id: UUID, actor: Actor) -> Replacement:
    """Stop a replacement; replaced texts stay and can be undone. Raises `Conflict` if it has ended."""
    actor.require_person("find and replace")
    actor.require("content.replace")
    row = visible_replacements(Replacement.objects.all(), actor).filter(pk=replacement_id).first()
    if row is None:
        raise NotFound(_("Replacement not found."))
    if row.by_id != actor.user.pk:
        actor.require("database.manage")
    return REPLACEMENTS.cancel(replacement_id, actor)


def _units(hits: Iterable[Hit]) -> list[Unit]:
    """Group the hits by what is written together: a post with its modules, or a row."""
    posts = _posts_of_modules(hit.row for hit in hits if hit.table == MODULES)
    by_unit: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        if hit.table != MODULES:
            by_unit[hit.table, hit.row].append(hit)
        elif hit.row in posts:
            by_unit[POSTS, posts[hit.row]].append(hit)
    return [
        (
            table,
            row,
            tuple(dict.fromkeys((hit.table, hit.row) for hit in of_unit)),
            tuple(hit.key for hit in of_unit),
        )
        for (table, row), of_unit in by_unit.items()
    ]


def _posts_of_modules(module_ids: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in batches(sorted(set(module_ids))):
        rows = PostModule.objects.filter(pk__in=part).values_list("pk", "post_id")
        found |= {str(pk): str(post_id) for pk, post_id in rows}
    return found


def _replace_part(
    row: Replacement, part: Sequence[Unit], actor: Actor
) -> tuple[list[TextPlace], int, str]:
    """Return the replaced texts, the number of missing hits, and why a post was refused."""
    # Checked for each part, so that a user who lost the permission meanwhile replaces nothing more.
    actor.require("content.replace")
    require_targets(actor, row.tables, row.layer)
    chosen_rows: dict[str, set[str]] = defaultdict(set)
    chosen: set[str] = set()
    posts = [key for table, key, _rows, _keys in part if table == POSTS]
    # Asked before, because a post that is refused later ends the replacement of all of this part.
    locked = locked_by_others(posts, actor)
    missed = 0
    for table, key, rows, keys in part:
        if table == POSTS and key in locked:
            missed += len(keys)
            continue
        for of_table, of_row in rows:
            chosen_rows[of_table].add(of_row)
        chosen.update(keys)
    edit = ChosenSubstitution(
        reason="find-replace",
        old=row.find,
        new=row.replace,
        is_case_sensitive=row.case_sensitive,
        is_whole_words=row.whole_words,
        rows=chosen_rows,
        chosen=chosen,
    )
    if row.layer == Layer.REVIEW:
        done = edit_review_of(sorted({*posts} - {*locked}), edit, actor)
        why = next(iter((locked | done.refused).values()), "")
        return done.places, missed + len(chosen - edit.used), why
    places = apply_edit(edit, frozenset(chosen_rows), actor)
    require_no_problems(edit)
    return places, missed + len(chosen - edit.used), next(iter(locked.values()), "")
