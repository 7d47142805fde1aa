"""Find and replace over the whole site, in one transaction, and its undoing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.find_replace.text_edits import Restoration, Substitution, restoration
from content.models import ReplacedPlace, Replacement
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import (
    Conflict,
    NotFound,
    RuleViolation,
    invalid,
)
from proofroom.core.find_replace.sources import (
    Edit,
    TextPlace,
    known_tables,
    sources,
)
from proofroom.core.validation.input_validation import refuse_unstorable

FIND_MAX: Final = 1_000
REPLACE_MAX: Final = 10_000
MOST_PLACES: Final = 200_000


@dataclass(frozen=True, slots=True)
class Replaced:
    """What was, or would be, replaced. `row` is None where nothing was written."""

    row: Replacement | None
    places: Sequence[TextPlace]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Undone:
    """`kept` are the places that somebody changed since, or whose old value is no longer allowed."""

    row: Replacement
    restored: int
    kept: Sequence[tuple[str, str, str]]


@transaction.atomic
def find_and_replace(
    *,
    actor: Actor,
    find: str,
    replace: str,
    tables: Collection[str],
    is_case_sensitive: bool = True,
    is_dry_run: bool = False,
) -> Replaced:
    """Put `replace` for every `find` in the texts of these tables, or say what that would do.

    Every new value passes the rules of its place: where one does not, `RuleViolation` names up to twenty such
    places by `table.id.field`, and nothing is written. Drafts stay as they are.
    """
    _allow(actor)
    _check(find, replace, tables)
    edit = Substitution(
        reason="find-replace",
        writes=not is_dry_run,
        old=find,
        new=replace,
        is_case_sensitive=is_case_sensitive,
    )
    places = _carry_out(edit, tables, actor)
    found = Counter(place.table for place in places)
    counts = {table: found[table] for table in known_tables() if table in tables}
    if is_dry_run or not places:
        return Replaced(None, places, counts)
    row = Replacement.objects.create(
        find=find,
        replace=replace,
        case_sensitive=is_case_sensitive,
        tables=list(counts),
        counts=counts,
        total=len(places),
        by_id=actor.user.pk,
        by_name=actor.user.username,
    )
    _keep(row, places)
    _tell("replaced", row, actor)
    return Replaced(row, places, counts)


@transaction.atomic
def undo_replacement(*, actor: Actor, replacement_id: UUID | str) -> Undone:
    """Put back what stood at each place before. What somebody changed since stays, and is named in the answer.

    Raises `NotFound`, or `Conflict` (`already_undone`).
    """
    _allow(actor)
    row = _lock(replacement_id)
    if row.undone_at is not None:
        raise Conflict(_("This was undone already."), code="already_undone")
    listed = row.places.values_list("table", "row", "field", "before", "after")
    edit: Restoration = restoration(listed, "find-replace undone")
    restored = _carry_out(edit, row.tables, actor)
    done = {(place.table, place.row, place.field) for place in restored}
    row.undone_at = timezone.now()
    row.save(update_fields=["undone_at"])
    _tell("undone", row, actor)
    return Undone(row, len(done), sorted(set(edit.places) - done))


def _carry_out(edit: Edit, tables: Collection[str], actor: Actor) -> list[TextPlace]:
    """Let every app change its rows. All rows are locked before the first is written, in the order of the apps:
    live writers lock a row first too, and the content version last."""
    wanted = frozenset(tables)
    found = [(source, source.find(edit, wanted)) for source in sources(wanted)]
    places: list[TextPlace] = []
    with outbox.version_last():
        for source, keys in found:
            places += source.change(keys, edit, wanted, actor)
            if len(places) > MOST_PLACES:
                sentence = _("There are more than %(most_places)s places. Name fewer tables.") % {
                    "most_places": f"{MOST_PLACES:,}"
                }
                raise invalid("tables", sentence, code="too_many")
    if edit.problems:
        path, sentences = next(iter(edit.problems.items()))
        raise RuleViolation(
            _(
                "Nothing was replaced, for a value would not be valid any more: %(path)s: "
                "%(sentences)s"
            )
            % {"path": path, "sentences": sentences[0]},
            details=edit.problems,
        )
    return places


def _allow(actor: Actor) -> None:
    actor.require_person("find and replace")
    actor.require("database.manage")


def _check(find: str, replace: str, tables: Collection[str]) -> None:
    refuse_unstorable(find, "find")
    refuse_unstorable(replace, "replace")
    if not 1 <= len(find) <= FIND_MAX:
        raise invalid(
            "find", _("find has from 1 to %(find_max)s characters.") % {"find_max": f"{FIND_MAX:,}"}
        )
    if len(replace) > REPLACE_MAX:
        raise invalid(
            "replace",
            _("replace has at most %(replace_max)s characters.")
            % {"replace_max": f"{REPLACE_MAX:,}"},
        )
    known = known_tables()
    unknown = [table for table in tables if table not in known]
    if unknown or not tables:
        what = _("No table is named")
        if unknown:
            what = _("There is no table %(name)r here") % {"name": unknown[0][:80]}
        raise invalid(
            "tables", _("%(what)s; known: %(known)s.") % {"what": what, "known": ", ".join(known)}
        )


def _keep(row: Replacement, places: Sequence[TextPlace]) -> None:
    ReplacedPlace.objects.bulk_create(
        (
            ReplacedPlace(
                replacement=row,
                table=place.table,
                row=place.row,
                field=place.field,
                before=place.before,
                after=place.after,
            )
            for place in places
        ),
        batch_size=1000,
    )


def _lock(replacement_id: UUID | str) -> Replacement:
    try:
        id_ = UUID(str(replacement_id))
    except ValueError:
        id_ = None
    rows = Replacement.objects.select_for_update(of=("self",))
    found = rows.filter(pk=id_).first() if id_ is not None else None
    if found is None:
        raise NotFound(
            _("No replacement has the id %(replacement_id)s.")
            % {"replacement_id": str(replacement_id)[:80]}
        )
    return found


def _tell(what: str, row: Replacement, actor: Actor) -> None:
    payload = {"id": str(row.pk), "total": row.total, "tables": row.tables}
    outbox.record(f"database.{what}", actor=actor, payload=payload)
