"""How an import treats what is here, its state while it runs, and its report."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

import orjson
from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.accounts.services.authors import ensure_author
from proofroom.archive.container import ArchiveError, ArchiveReader
from proofroom.archive.export import PERMISSION
from proofroom.archive.people import AGENT, all_references
from proofroom.archive.rows import ArchiveRow
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotAllowed, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.errors import describe_translated, first_fault
from proofroom.core.validation.input_validation import refuse_unstorable

Row = TypeVar("Row", bound=ArchiveRow)
MAX_KEPT: Final = 1_000
"""Differences and notes that a report keeps; a listener hears of all of them."""
_TAKEN: Final = frozenset(
    {"code_defined", "name_taken", "path_taken", "pattern_exists", "slug_taken"}
)
"""What the rules say where something else on this site has the place of a new row."""
_NAMES: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{2}/[0-9a-f]{32}"
)
"""Ids, and names of files in the storage."""


class Mode(StrEnum):
    """What happens to content that is here already. What is not here is made in every mode.

    `ADD`: changes wait for a decision, in Review or for approval; what has no such stage stays as it is. `UPDATE`:
    it becomes what the archive says. `PROPOSE`: as `ADD`, and new posts are drafts: visitors see nothing new.
    """

    ADD = "add"
    UPDATE = "update"
    PROPOSE = "propose"


class Outcome(StrEnum):
    """What came of a row."""

    CREATED = "created"
    UPDATED = "updated"
    PROPOSED = "proposed"
    UNCHANGED = "unchanged"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field of something that is here, and in the archive with another value.

    Of a field of a post or module, `of` is the type.
    """

    kind: str
    title: str
    path: str
    before: Json
    after: Json
    of: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What came of one row, or would, with every field that differs here.

    `conflict` is a sentence where somebody has changed the same thing here meanwhile.
    """

    kind: str
    outcome: Outcome
    title: str
    object_id: str | None
    differences: tuple[FieldDifference, ...]
    conflict: str


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do. `notes` are sentences; of both lists only the first `MAX_KEPT` are kept."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    differences: list[FieldDifference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_dry_run: bool = False

    def to_json(self) -> JsonObject:
        return {kind: dict(sorted(counts.items())) for kind, counts in self.counts.items()}


Listener = Callable[[Entry | str], None]
"""Hears what came of each row, and the notes."""


@dataclass(slots=True)
class ArchiveImport:
    """One import while it runs. Kinds find the reader, the actor, the ids that things have here, and the report.

    `created` are the ids of what was made, by kind, where another step or kind asks for them; `left_out` those of
    rows that a conflict kept out; `state` is what the steps of a kind hand on to one another.
    """

    reader: ArchiveReader
    actor: Actor
    mode: Mode
    report: ImportReport
    on_failure: ExitStack
    listener: Listener | None = None
    watch: Callable[[], None] | None = None
    names: dict[str, str] = field(default_factory=dict)
    created: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    left_out: set[str] = field(default_factory=set)
    state: dict[str, Any] = field(default_factory=dict)
    place: tuple[str, int] = ("", 0)
    """The kind and the line of the row that was read last."""
    _storable: set[str] = field(default_factory=set)
    _named: set[str] = field(default_factory=set)
    _accounts: dict[str, int] = field(default_factory=dict)
    _differences: list[FieldDifference] = field(default_factory=list)
    _conflict: str = ""

    @property
    def is_dry_run(self) -> bool:
        return self.report.is_dry_run

    @property
    def keeps_history(self) -> bool:
        """Whether what the archive says of who wrote what is taken over: from whoever manages the site, who could
        write that into the database too. Else all of it is the actor's."""
        return self.actor.can(PERMISSION)

    def map_id(self, archived: str, here: str) -> None:
        """Have every later row name what is `archived` by its id here."""
        if archived != here:
            self.names[archived] = here

    def id_here(self, archived: str) -> str:
        return self.names.get(archived, archived)

    def person(self, reference: str | None) -> int | None:
        """The account that the archive names; None where it is not here. Raises `ArchiveError` for a stranger."""
        if reference is None:
            return None
        if reference not in self._named:
            raise ArchiveError(
                _("%(person)s is listed as an author, but is not included in the archive.")
                % {"person": reference[:200]}
            )
        return self._accounts.get(reference)

    def tell(
        self, kind: str, outcome: Outcome, title: str = "", object_id: str | None = None
    ) -> None:
        """Say what came of a row. The differences and the conflict that were named before are of this row."""
        counts = self.report.counts.setdefault(kind, Counter())
        counts[outcome] += 1
        if self.listener is not None:
            differences = tuple(self._differences)
            entry = Entry(kind, outcome, title, object_id, differences, self._conflict)
            self.listener(entry)
        self._differences, self._conflict = [], ""

    def conflict(self, sentence: str) -> None:
        """Say that somebody changed the row here meanwhile."""
        self._conflict = sentence

    def leave_out(self, kind: str, title: str, object_id: str, sentence: str) -> None:
        """Import nothing of a row, say why, and go on with the others."""
        self.left_out.add(object_id)
        self.conflict(sentence)
        self.tell(kind, Outcome.KEPT, title, object_id)

    @contextmanager
    def writing(self, kind: str, title: str, object_id: str, *, is_here: bool) -> Iterator[None]:
        """Store one row in the block.

        Where this site refuses it because of what stands here, or because the actor may not, it is left out and
        named. What is wrong with the row itself refuses the archive: raises `ArchiveError`.
        """
        try:
            with transaction.atomic():
                yield
        except ArchiveError:
            raise
        except CmsError as error:
            if not (is_here or isinstance(error, NotAllowed | Conflict) or error.code in _TAKEN):
                raise refused(kind, title, error) from error
            self.leave_out(kind, title, object_id, reason_of(error))

    def note(self, sentence: str) -> None:
        if len(self.report.notes) < MAX_KEPT:
            self.report.notes.append(sentence)
        if self.listener is not None:
            self.listener(sentence)

    def differ(
        self, kind: str, title: str, path: str, before: Json, after: Json, of: str = ""
    ) -> None:
        difference = FieldDifference(kind, title, path, before, after, of)
        if len(self.report.differences) < MAX_KEPT:
            self.report.differences.append(difference)
        self._differences.append(difference)

    def compare(
        self, kind: str, title: str, here: JsonObject, archived: JsonObject
    ) -> dict[str, Json]:
        """The values of the archive that differ from those here, each reported."""
        changed = {name: value for name, value in archived.items() if here.get(name) != value}
        for name, value in changed.items():
            self.differ(kind, title, name, here.get(name), value)
        return changed

    def rows(self, name: str, row: type[Row]) -> Iterator[Row]:
        """The rows of a kind, checked, with the names that things have here. Raises `ArchiveError`."""
        for number, line in enumerate(self.reader.lines(name), start=1):
            if self.watch is not None:
                self.watch()
            self.place = (name, number)
            yield self._read(name, row, number, line)
        self._storable.add(name)

    def _read(self, name: str, row: type[Row], number: int, line: bytes) -> Row:
        where = {"name": name, "number": number}
        try:
            text = line.decode()
            if self.names:
                text = _NAMES.sub(lambda found: self.names.get(found[0], found[0]), text)
            data = orjson.loads(text)
            # Kinds go through their rows several times.
            if name not in self._storable:
                refuse_unstorable(data)
            return row.model_validate(data)
        except (UnicodeDecodeError, orjson.JSONDecodeError) as error:
            raise ArchiveError(
                _("Row %(number)s of %(name)s is not valid JSON.") % where
            ) from error
        except RuleViolation as error:
            raise refused(name, str(number), error) from error
        except ValidationError as error:
            path, reason = first_fault(error, describe_translated, root="row")
            raise ArchiveError(
                _("Row %(number)s of %(name)s is not valid: %(path)s: %(reason)s.")
                % {**where, "path": path, "reason": reason.removesuffix(".")}
            ) from error

    def find_people(self) -> None:
        """Find the accounts that the archive names, by e-mail address, and agents' by their id."""
        known = {reference: pk for pk, reference in all_references().items()}
        for reference in self._people_named():
            self._named.add(reference)
            if reference in known:
                self._accounts[reference] = known[reference]

    def make_people(self) -> None:
        """Make accounts for authors who have none here. They are switched off until an administrator decides."""
        if self.mode == Mode.PROPOSE:
            return
        for reference in self._people_named():
            if reference in self._accounts:
                continue
            try:
                user = self._make_person(reference)
            except RuleViolation as error:
                raise refused("people", reference, error) from error
            self._accounts[reference] = user.pk
            self.tell("people", Outcome.CREATED, reference)

    def _make_person(self, reference: str) -> User:
        if reference.startswith(AGENT):
            return ensure_agent_user(agent_id=reference.removeprefix(AGENT))
        return ensure_author(email=reference, actor=self.actor)

    def _people_named(self) -> Iterator[str]:
        for number, line in enumerate(self.reader.lines("people"), start=1):
            yield self._read("people", PersonRow, number, line).person


class PersonRow(ArchiveRow):
    """Somebody whom rows name."""

    person: str


def refused(kind: str, title: str, error: CmsError) -> ArchiveError:
    """The refusal of one row, with what it is of."""
    return ArchiveError(
        _("%(kind)s, %(title)s: %(reason)s")
        % {"kind": kind, "title": title[:200], "reason": reason_of(error)}
    )


def reason_of(error: CmsError) -> str:
    """What was refused, and where, in one line."""
    sentences = [f"{path}: {text}" for path, texts in error.details.items() for text in texts]
    return (" ".join(sentences[:5]) or error.message)[:600]
