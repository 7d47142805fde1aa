"""Find and replace over the whole site in one transaction, its undo, and samples of the changes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from content.find_replace.review import edit_review
from content.models import Layer, ReplacedPlace, Replacement
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.caching.content_version import version_last
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.find_replace import Edit, TextPlace, known_tables, select_sources
from proofroom.core.i18n.words import IN_WORD, compile_pattern
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions.richtext.nodes import to_text
from proofroom.shared_content.approval import require_live_change
from proofroom.shared_content.shared_types import GLOBAL_MODULE, MENU, TERM

MAX_TEXT_LENGTH: Final = 1_000_000
"""Maximum number of characters after a replacement, checked before the rules of the field."""
_SHARED_TABLES: Final = {"global_modules": GLOBAL_MODULE, "menus": MENU, "taxonomies": TERM}
_PLAIN: Final = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+")
"""Characters that JSON doesn't escape."""
_IN_WORD: Final = compile_pattern(rf"[_{IN_WORD}]")


@dataclass(slots=True)
class Substitution(Edit):
    """An edit that replaces `old` with `new`, optionally only as a whole word. Both are plain text, not patterns."""

    old: str = ""
    new: str = ""
    is_case_sensitive: bool = True
    is_whole_words: bool = False
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        letters = (re.escape(char) for char in self.old)
        if not self.is_case_sensitive:
            letters = (_either_case(char) for char in self.old)
        found = "".join(letters)
        if self.is_whole_words:
            # A word boundary is only required at ends of the text that are part of a word.
            begin = f"(?<!{_IN_WORD.pattern})" if _IN_WORD.match(self.old) else ""
            end = f"(?!{_IN_WORD.pattern})" if _IN_WORD.match(self.old[-1:]) else ""
            self.pattern = compile_pattern(f"{begin}{found}{end}")
        else:
            self.pattern = re.compile(found)

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        if not isinstance(value, str):
            return value
        count = len(self.pattern.findall(value))
        # Checked before replacing, so that an oversized result is never built.
        if len(value) + count * (len(self.new) - len(self.old)) > MAX_TEXT_LENGTH:
            raise invalid(
                path,
                gettext("This would be longer than %(longest)s characters.")
                % {"longest": f"{MAX_TEXT_LENGTH:,}"},
            )
        return self.pattern.sub(lambda _: self.new, value) if count else value

    def keys(
        self,
        table: str,
        rows: QuerySet[Any],
        *,
        texts: Sequence[str] = (),
        documents: Sequence[str] = (),
        key: str = "pk",
    ) -> list[Any]:
        conditions = [self._holds(name, self.old) for name in texts]
        for name in documents:
            written = f"{name.replace('__', '_')}_written"
            rows = rows.annotate(**{written: Cast(name, TextField())})
            # Compared as JSON text: Django stores it with escapes on SQLite, PostgreSQL's jsonb has none.
            conditions.append(
                self._holds(
                    written, json.dumps(self.old, ensure_ascii=connection.vendor == "sqlite")[1:-1]
                )
            )
        found = rows.filter(reduce(or_, conditions)).order_by(key)
        return list(found.values_list(key, flat=True).distinct())

    def _holds(self, column: str, text: str) -> Q:
        """Return a condition that matches at least all rows with a hit; the pattern then decides."""
        if self.is_case_sensitive:
            return Q(**{f"{column}__contains": text})
        # Databases fold case differently and JSON escapes some characters, so only the longest plain part is
        # searched.
        longest = max(_PLAIN.findall(self.old), key=len, default="")
        return Q(**{f"{column}__icontains": longest}) if longest else Q()


def _either_case(char: str) -> str:
    # Some characters have a longer other case, such as ß and SS, which doesn't fit into a character class.
    forms = {form for form in (char, char.lower(), char.upper()) if len(form) == 1}
    return f"[{''.join(re.escape(form) for form in sorted(forms))}]"


@dataclass(slots=True)
class Restoration(Edit):
    """An edit that restores earlier values where they weren't changed since."""

    places: Mapping[tuple[str, str, str], tuple[Json, Json]] = field(default_factory=dict)
    """Values before and after, by table, row and path."""
    kept: set[tuple[str, str, str]] = field(default_factory=set)

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        before, after = self.places.get((table, row, path), (value, None))
        return before if value == after else value

    def keys(
        self,
        table: str,
        rows: QuerySet[Any],
        *,
        texts: Sequence[str] = (),
        documents: Sequence[str] = (),
        key: str = "pk",
    ) -> list[Any]:
        ids = sorted({row for name, row, _ in self.places if name == table})
        found: set[Any] = set()
        for part in batches(ids):
            found.update(rows.filter(pk__in=part).values_list(key, flat=True))
        return sorted(found)

    def rows_named(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((table, row) for table, row, _ in self.places))

    def refuse(self, prefix: str, error: object) -> None:
        """Leave the row unchanged: its earlier value is no longer allowed."""


def build_restoration(rows: Iterable[tuple[str, str, str, Json, Json]], reason: str) -> Restoration:
    """Return an edit that undoes changes at these places."""
    places = {(table, row, path): (before, after) for table, row, path, before, after in rows}
    return Restoration(reason=reason, places=places)


FIND_MAX: Final = 1_000
REPLACE_MAX: Final = 10_000
# Bounds memory: each place holds two values.
MAX_PLACES: Final = 200_000


@dataclass(frozen=True, slots=True)
class Replaced:
    """A replacement, or its preview. `row` is None if nothing was written."""

    row: Replacement | None
    places: Sequence[TextPlace]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class UndoneReplacement:
    """The result of an undo. `kept`: places changed since, or whose old value is no longer allowed."""

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
    is_whole_words: bool = False,
    is_dry_run: bool = False,
) -> Replaced:
    """Replace every `find` in the texts of these tables, or only return the effects with `is_dry_run`.

    New values must be valid: otherwise `RuleViolation` names up to twenty places as `table.id.field`, and
    nothing is written. Drafts are unchanged.
    """
    actor.require_person("find and replace")
    actor.require("database.manage")
    if not is_dry_run:
        require_no_approval(actor, tables)
    check_search(find, replace, tables)
    edit = Substitution(
        reason="find-replace",
        writes=not is_dry_run,
        old=find,
        new=replace,
        is_case_sensitive=is_case_sensitive,
        is_whole_words=is_whole_words,
    )
    places = apply_edit(edit, tables, actor)
    found = Counter(place.table for place in places)
    counts = {table: found[table] for table in known_tables() if table in tables}
    if is_dry_run or not places:
        return Replaced(None, places, counts)
    row = Replacement.objects.create(
        find=find,
        replace=replace,
        case_sensitive=is_case_sensitive,
        whole_words=is_whole_words,
        tables=list(counts),
        counts=counts,
        total=len(places),
        by_id=actor.user.pk,
        by_name=actor.user.username,
    )
    save_replaced_places(row, places)
    record("replaced", row, actor)
    return Replaced(row, places, counts)


def save_replaced_places(row: Replacement, places: Iterable[TextPlace]) -> None:
    """Save the replaced values for an undo."""
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


@transaction.atomic
def undo_replacement(*, actor: Actor, replacement_id: UUID | str) -> UndoneReplacement:
    """Restore the earlier value at each place, except where it was changed since.

    Raises `NotFound`, or `Conflict` (`already_undone`).
    """
    actor.require_person("find and replace")
    # Locked, so that two undo requests can't both run.
    found = find_by_id(Replacement.objects.select_for_update(of=("self",)), replacement_id)
    if found is None:
        raise NotFound(
            _("No replacement has the ID %(replacement_id)s.")
            % {"replacement_id": str(replacement_id)[:80]}
        )
    row = found
    _allow_undo(row, actor)
    if row.is_running:
        raise Conflict(_("This is still running. Cancel it first."), code="still_running")
    if row.undone_at is not None:
        raise Conflict(_("This has already been undone."), code="already_undone")
    listed = row.places.values_list("table", "row", "field", "before", "after")
    edit: Restoration = build_restoration(listed, "find-replace undone")
    restored = (
        edit_review(edit, actor).places
        if row.layer == Layer.REVIEW
        else apply_edit(edit, row.tables, actor)
    )
    done = {(place.table, place.row, place.field) for place in restored}
    row.undone_at = timezone.now()
    row.save(update_fields=["undone_at"])
    record("undone", row, actor)
    return UndoneReplacement(row, len(done), sorted(set(edit.places) - done))


def apply_edit(edit: Edit, tables: Collection[str], actor: Actor) -> list[TextPlace]:
    """Let each source change its rows, and return the changed places."""
    wanted = frozenset(tables)
    # All rows are locked before the first write, in the order of the apps. Other writers also lock rows first
    # and the content version last, so they can't deadlock with this.
    found = [(source, source.find(edit, wanted)) for source in select_sources(wanted)]
    places: list[TextPlace] = []
    with version_last():
        for source, keys in found:
            places += source.change(keys, edit, wanted, actor)
            if len(places) > MAX_PLACES:
                sentence = _("More than %(most_places)s places found. Search in fewer tables.") % {
                    "most_places": f"{MAX_PLACES:,}"
                }
                raise invalid("tables", sentence, code="too_many")
    require_no_problems(edit)
    return places


def require_no_problems(edit: Edit) -> None:
    """Raise `RuleViolation` if a new value is not valid."""
    if edit.problems:
        path, sentences = next(iter(edit.problems.items()))
        raise RuleViolation(
            _(
                "Nothing was replaced, because a value would no longer be valid: "
                "%(path)s: %(sentences)s"
            )
            % {"path": path, "sentences": sentences[0]},
            details=edit.problems,
        )


def check_search(find: str, replace: str, tables: Collection[str]) -> None:
    reject_unstorable(find, "find")
    reject_unstorable(replace, "replace")
    if not 1 <= len(find) <= FIND_MAX:
        raise invalid(
            "find",
            _("find must have 1 to %(find_max)s characters.") % {"find_max": f"{FIND_MAX:,}"},
        )
    if len(replace) > REPLACE_MAX:
        raise invalid(
            "replace",
            _("replace can have at most %(replace_max)s characters.")
            % {"replace_max": f"{REPLACE_MAX:,}"},
        )
    known = known_tables()
    unknown = [table for table in tables if table not in known]
    if unknown or not tables:
        what = _("No table selected")
        if unknown:
            what = _("There is no table %(name)r") % {"name": unknown[0][:80]}
        raise invalid(
            "tables",
            _("%(what)s. Available: %(known)s.") % {"what": what, "known": ", ".join(known)},
        )


def record(what: str, row: Replacement, actor: Actor) -> None:
    payload = {"id": str(row.pk), "total": row.total, "tables": row.tables}
    outbox.record(f"database.{what}", actor=actor, payload=payload)


SAMPLE_SIZE: Final = 50
_TEXT_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class SampledPlace:
    """A changed place, with its text before and after."""

    table: str
    id: str
    field: str
    before: str
    after: str


def sample_of(places: Iterable[TextPlace]) -> list[SampledPlace]:
    """Return the first changed places, with both texts around the first difference."""
    found: list[SampledPlace] = []
    for place in islice(places, SAMPLE_SIZE):
        before, after = (
            value if isinstance(value, str) else to_text(value)
            for value in (place.before, place.after)
        )
        same = 0
        for left, right in zip(before, after, strict=False):
            if left != right:
                break
            same += 1
        start = max(0, same - _TEXT_MAX // 3)
        found.append(
            SampledPlace(
                place.table, place.row, place.field, _cut(before, start), _cut(after, start)
            )
        )
    return found


def _cut(text: str, start: int) -> str:
    part = text[start : start + _TEXT_MAX]
    return f"{'…' if start else ''}{part}{'…' if start + _TEXT_MAX < len(text) else ''}"


def _allow_undo(row: Replacement, actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may undo the replacement: its starter with all edit permissions, or a
    database manager."""
    if row.layer != Layer.REVIEW:
        require_no_approval(actor, row.tables)
    if actor.can("database.manage"):
        return
    actor.require("content.replace")
    if row.by_id != actor.user.pk:
        raise NotAllowed(
            _("Only the person who started this replacement or an administrator can undo it.")
        )
    require_targets(actor, row.tables, row.layer)


def require_targets(actor: Actor, tables: Collection[str], layer: str) -> None:
    """Raise `NotAllowed` unless the actor may write to all these tables, or to Review."""
    if layer == Layer.REVIEW:
        actor.require("posts.review.save")
        return
    for source in select_sources(tables):
        actor.require(source.permission)
    require_no_approval(actor, tables)


def require_no_approval(actor: Actor, tables: Collection[str]) -> None:
    """Raise `NotAllowed` if changes to one of these tables need approval."""
    for table, kind in _SHARED_TABLES.items():
        if table in tables:
            require_live_change(kind, actor)
