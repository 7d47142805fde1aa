"""Find and replace of chosen hits, a few rows at a time: begun and cancelled by a person, carried out by a task.

Each part is its own transaction with the note of what came of it, so that a worker may be killed at any point.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from content.find_replace.documents import MODULES, POSTS
from content.find_replace.hits import ChosenSubstitution, Hit, find_hits
from content.find_replace.review import REVIEW_TABLES, edit_review_of
from content.find_replace.services import (
    apply_edit,
    keep_places,
    record,
    require_no_problems,
    require_targets,
)
from content.models import Layer, PostModule, Replacement, ReplacementState
from proofroom.accounts.queries import preferences_of
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.content_scope import own_where_limited
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.find_replace import TextPlace, known_tables
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
PART_SIZE: Final = 25
"""Rows that one transaction changes; as many are done before the answer, more by a worker."""
TURN_SECONDS: Final = 20.0
_LATE_AFTER: Final = timedelta(seconds=90)
_MAX_WOKEN: Final = 10
Unit = tuple[str, str, tuple[tuple[str, str], ...], tuple[str, ...]]
"""The first table of a source, a row of it (of modules: their post), the rows by table, and the keys of the hits."""


def start_replacement(
    *,
    actor: Actor,
    find: str,
    replace: str,
    tables: Collection[str],
    is_case_sensitive: bool = True,
    to_review: bool = False,
    chosen: Collection[str],
    left_out: Collection[str] | None = None,
) -> Replacement:
    """Replace the chosen hits, or all but those that are `left_out`; in Review where it is asked for.

    Few are replaced when this answers, many by a worker. Raises `RuleViolation` where none of them is there any more.
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
    with transaction.atomic():
        row = Replacement.objects.create(
            find=find,
            replace=replace,
            case_sensitive=is_case_sensitive,
            tables=[table for table in known_tables() if table in tables],
            counts={},
            by_id=actor.user.pk,
            by_name=actor.user.username,
            layer=layer,
            state=ReplacementState.RUNNING,
            planned=len(units),
            pending=units,
            missed=len(picked - {hit.key for hit in hits}),
        )
        if len(units) > PART_SIZE:
            _send_later(row)
    if len(units) <= PART_SIZE:
        execute_replacement(row.pk)
        row.refresh_from_db()
    return row


def visible_replacements(rows: QuerySet[Replacement], actor: Actor) -> QuerySet[Replacement]:
    """Those that the actor may see: where they are limited to a part of the content, their own. One holds words of
    posts of any part."""
    return own_where_limited(rows, actor, actor.user.pk)


@transaction.atomic
def cancel_replacement(*, replacement_id: UUID, actor: Actor) -> Replacement:
    """Replace nothing more; what is done stays, and can be undone. Raises `Conflict` where it is over."""
    actor.require_person("find and replace")
    actor.require("content.replace")
    rows = visible_replacements(Replacement.objects.all(), actor)
    row = rows.select_for_update(of=("self",)).filter(pk=replacement_id).first()
    if row is None:
        raise NotFound(_("Replacement not found."))
    if row.by_id != actor.user.pk:
        actor.require("database.manage")
    if not row.is_running:
        raise Conflict(_("This has already finished."), code="finished")
    _end(row, ReplacementState.CANCELLED)
    return row


def execute_replacement(replacement_id: UUID) -> None:
    """Replace what is not replaced yet. Safe to call any number of times."""
    ends = time.monotonic() + TURN_SECONDS
    while _replace_next(replacement_id):
        if time.monotonic() > ends:
            row = Replacement.objects.filter(pk=replacement_id).first()
            return _send_later(row) if row else None
    return None


def resume_replacements() -> int:
    """Go on with what a lost message or a dead worker left. Answers how many. For the sweep."""
    late = Replacement.objects.filter(
        state=ReplacementState.RUNNING, touched_at__lt=timezone.now() - _LATE_AFTER
    )
    rows = list(late.order_by("touched_at")[:_MAX_WOKEN])
    for row in rows:
        row.save(update_fields=["touched_at"])
        _send_later(row)
    return len(rows)


def forget_old_replacements(days: int = 90) -> int:
    """Delete what ended so long ago, with its places: it can be undone no more. Safe to run twice."""
    ended = Replacement.objects.exclude(state=ReplacementState.RUNNING)
    return ended.filter(touched_at__lt=timezone.now() - timedelta(days=days)).delete()[0]


def _units(hits: Iterable[Hit]) -> list[Unit]:
    """The hits by what is written at once: a post with its modules, or a row."""
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


@transaction.atomic
def _replace_next(replacement_id: UUID) -> bool:
    """One part. Answers False where nothing is left to do."""
    rows = Replacement.objects.select_related("by__preferences").select_for_update(of=("self",))
    row = rows.filter(pk=replacement_id, state=ReplacementState.RUNNING).first()
    if row is None:
        return False
    # What is stored for the person who started it is in their language, also where a worker stores it.
    chosen = preferences_of(row.by).language if row.by else ""
    with override(chosen or get_language()):
        return _do_part(row)


def _do_part(row: Replacement) -> bool:
    part, rest = row.pending[:PART_SIZE], row.pending[PART_SIZE:]
    if not part:
        return _end(row, ReplacementState.DONE)
    if row.by is None or not row.by.is_active:
        return _end(
            row, ReplacementState.FAILED, _("The person who started this no longer has an account.")
        )
    actor = Actor(user=row.by, via="admin")
    try:
        with transaction.atomic():
            places, missed, why = _replace_part(row, part, actor)
    except (NotAllowed, RuleViolation) as error:
        return _end(row, ReplacementState.FAILED, error.message)
    except CmsError as error:
        logger.warning("a part of the replacement %s failed: %s", row.pk, error.message)
        return _end(row, ReplacementState.FAILED, error.message)
    except DATABASE_AWAY:
        raise  # the sweep goes on with it
    except Exception:  # a defect must not be tried for ever
        logger.exception("a part of the replacement %s failed", row.pk)
        why = _(
            "Something went wrong. What was replaced until then stays, and can be undone. Check the log."
        )
        return _end(row, ReplacementState.FAILED, why)
    keep_places(row, places)
    row.counts = dict(Counter(row.counts) + Counter(place.table for place in places))
    row.total += len(places)
    row.missed += missed
    row.why = row.why or why
    row.pending = rest
    row.save()
    return True if rest else _end(row, ReplacementState.DONE)


def _replace_part(
    row: Replacement, part: Sequence[Unit], actor: Actor
) -> tuple[list[TextPlace], int, str]:
    """The texts that were replaced, how many hits were not there, and why a post was left as it is."""
    # Asked anew for each part: who lost their rights meanwhile replaces nothing more.
    actor.require("content.replace")
    require_targets(actor, row.tables, row.layer)
    chosen_rows: dict[str, set[str]] = defaultdict(set)
    chosen: set[str] = set()
    posts: list[str] = []
    for table, key, rows, keys in part:
        if table == POSTS:
            posts.append(key)
        for of_table, of_row in rows:
            chosen_rows[of_table].add(of_row)
        chosen.update(keys)
    edit = ChosenSubstitution(
        reason="find-replace",
        old=row.find,
        new=row.replace,
        is_case_sensitive=row.case_sensitive,
        rows=chosen_rows,
        chosen=chosen,
    )
    if row.layer == Layer.REVIEW:
        done = edit_review_of(sorted(posts), edit, actor)
        why = next(iter(done.refused.values()), "")
        return done.places, len(chosen - edit.used), why
    places = apply_edit(edit, frozenset(chosen_rows), actor)
    require_no_problems(edit)
    return places, len(chosen - edit.used), ""


def _end(row: Replacement, state: ReplacementState, why: str = "") -> bool:
    row.state, row.why = state, why or row.why
    if state == ReplacementState.DONE:
        row.pending = []
    row.save()
    if row.total:
        actor = Actor(user=row.by, via="admin") if row.by is not None else None
        if actor is not None:
            record("replaced", row, actor)
    return False


def _send_later(row: Replacement) -> None:
    send_after_commit(
        lambda: queue_task("content.tasks.run_replacement", str(row.pk)), f"replacement {row.pk}"
    )
