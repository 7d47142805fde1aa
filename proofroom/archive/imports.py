"""Import modes, the state of a running import, and its report."""

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
from proofroom.core.validation.input_validation import reject_unstorable

Row = TypeVar("Row", bound=ArchiveRow)
MAX_KEPT: Final = 1_000
"""Largest number of differences and notes in a report. A listener gets all of them."""
_TAKEN_CODES: Final = frozenset(
    {"code_defined", "name_taken", "path_taken", "pattern_exists", "slug_taken"}
)
"""Error codes for a row whose place on this site is already taken by other content."""
_REFERENCE: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{2}/[0-9a-f]{32}"
)
"""Pattern of ids and of names of stored files."""


class Mode(StrEnum):
    """The treatment of content that already exists here. New content is created in every mode.

    `ADD`: changes wait in Review or for approval; content without such a stage stays unchanged. `UPDATE`: content is
    overwritten by the archive. `PROPOSE`: like `ADD`, and new posts are drafts, so visitors see nothing new.
    """

    ADD = "add"
    UPDATE = "update"
    PROPOSE = "propose"


class Outcome(StrEnum):
    """The result of importing a row."""

    CREATED = "created"
    UPDATED = "updated"
    PROPOSED = "proposed"
    UNCHANGED = "unchanged"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field whose value in the archive differs from the one here.

    `of`: the post type or module type, for a field of a post or module.
    """

    kind: str
    title: str
    path: str
    before: Json
    after: Json
    of: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The result for one row, with all differing fields. In a dry run, the expected result.

    `conflict`: a sentence if the same content was changed here meanwhile; otherwise empty.
    """

    kind: str
    outcome: Outcome
    title: str
    object_id: str | None
    differences: tuple[FieldDifference, ...]
    conflict: str


@dataclass(slots=True)
class ImportReport:
    """The report of an import or dry run. `differences` and `notes` have at most `MAX_KEPT` entries each."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    differences: list[FieldDifference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_dry_run: bool = False

    def to_json(self) -> JsonObject:
        return {kind: dict(sorted(counts.items())) for kind, counts in self.counts.items()}


Listener = Callable[[Entry | str], None]
"""Callback that receives the result of each row and each note."""


@dataclass(slots=True)
class ArchiveImport:
    """The state of a running import: reader, actor, report, and the ids that archived objects have here.

    `created`: ids of created objects, by kind, for later steps. `left_out`: ids of rows skipped because of a
    conflict. `state`: data that the steps of a kind pass on.
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
    """Kind and line number of the row read last."""
    _checked_kinds: set[str] = field(default_factory=set)
    _declared_people: set[str] = field(default_factory=set)
    _accounts: dict[str, int] = field(default_factory=dict)
    _differences: list[FieldDifference] = field(default_factory=list)
    _conflict: str = ""

    @property
    def is_dry_run(self) -> bool:
        return self.report.is_dry_run

    @property
    def keeps_history(self) -> bool:
        """True if authors and dates of the archive are imported; otherwise everything is the actor's."""
        # An actor who manages the site could set them in the database, too.
        return self.actor.can(PERMISSION)

    def map_id(self, archived: str, here: str) -> None:
        """Replace the archived id by the id here in all rows read from now on."""
        if archived != here:
            self.names[archived] = here

    def id_here(self, archived: str) -> str:
        return self.names.get(archived, archived)

    def person(self, reference: str | None) -> int | None:
        """Return the account for a reference; None if it does not exist here.

        Raises `ArchiveError` if it is undeclared.
        """
        if reference is None:
            return None
        if reference not in self._declared_people:
            raise ArchiveError(
                _("%(person)s is listed as an author, but is not included in the archive.")
                % {"person": reference[:200]}
            )
        return self._accounts.get(reference)

    def tell(
        self, kind: str, outcome: Outcome, title: str = "", object_id: str | None = None
    ) -> None:
        """Report the result of a row, with the differences and the conflict collected since the last call."""
        counts = self.report.counts.setdefault(kind, Counter())
        counts[outcome] += 1
        if self.listener is not None:
            differences = tuple(self._differences)
            entry = Entry(kind, outcome, title, object_id, differences, self._conflict)
            self.listener(entry)
        self._differences, self._conflict = [], ""

    def conflict(self, sentence: str) -> None:
        """Note that the current row was changed here meanwhile."""
        self._conflict = sentence

    def leave_out(self, kind: str, title: str, object_id: str, sentence: str) -> None:
        """Skip a row, report the reason, and go on with the next."""
        self.left_out.add(object_id)
        self.conflict(sentence)
        self.tell(kind, Outcome.KEPT, title, object_id)

    @contextmanager
    def writing(self, kind: str, title: str, object_id: str, *, is_here: bool) -> Iterator[None]:
        """Store one row in the block.

        If this site's content or the actor's rights do not allow it, the row is skipped and reported. An invalid row
        refuses the whole archive: raises `ArchiveError`.
        """
        try:
            # A savepoint, so that a refused row leaves nothing half written and the transaction stays usable.
            with transaction.atomic():
                yield
        except ArchiveError:
            raise
        except CmsError as error:
            if not (
                is_here or isinstance(error, NotAllowed | Conflict) or error.code in _TAKEN_CODES
            ):
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
        """Return the archived values that differ from those here, and report each difference."""
        changed = {name: value for name, value in archived.items() if here.get(name) != value}
        for name, value in changed.items():
            self.differ(kind, title, name, here.get(name), value)
        return changed

    def rows(self, name: str, row: type[Row]) -> Iterator[Row]:
        """Yield the validated rows of a kind, with ids replaced by the ids here. Raises `ArchiveError`."""
        for number, line in enumerate(self.reader.lines(name), start=1):
            if self.watch is not None:
                self.watch()
            self.place = (name, number)
            yield self._read(name, row, number, line)
        # Set only after the last row: an iteration that stopped early has not checked the rest.
        self._checked_kinds.add(name)

    def _read(self, name: str, row: type[Row], number: int, line: bytes) -> Row:
        where = {"name": name, "number": number}
        try:
            text = line.decode()
            if self.names:
                # Replace ids in the text, because they can be anywhere in a document, also inside rich text.
                text = _REFERENCE.sub(lambda match: self.names.get(match[0], match[0]), text)
            data = orjson.loads(text)
            # Kinds read their rows several times; this check is slow and its result does not change.
            if name not in self._checked_kinds:
                reject_unstorable(data)
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
        """Find the accounts of the people in the archive: people by email, agents by id."""
        known = {reference: pk for pk, reference in all_references().items()}
        for reference in self._read_people():
            self._declared_people.add(reference)
            if reference in known:
                self._accounts[reference] = known[reference]

    def make_people(self) -> None:
        """Create accounts for authors who have none here. They are disabled until an administrator enables them."""
        # Proposing needs no right to manage accounts.
        if self.mode == Mode.PROPOSE:
            return
        for reference in self._read_people():
            if reference in self._accounts:
                continue
            try:
                user = self._create_account(reference)
            except RuleViolation as error:
                raise refused("people", reference, error) from error
            self._accounts[reference] = user.pk
            self.tell("people", Outcome.CREATED, reference)

    def _create_account(self, reference: str) -> User:
        if reference.startswith(AGENT):
            return ensure_agent_user(agent_id=reference.removeprefix(AGENT))
        return ensure_author(email=reference, actor=self.actor)

    def _read_people(self) -> Iterator[str]:
        for number, line in enumerate(self.reader.lines("people"), start=1):
            yield self._read("people", PersonRow, number, line).person


class PersonRow(ArchiveRow):
    """A person referenced by rows."""

    person: str


def refused(kind: str, title: str, error: CmsError) -> ArchiveError:
    """Return the error for a row that this site refuses."""
    return ArchiveError(
        _("%(kind)s, %(title)s: %(reason)s")
        % {"kind": kind, "title": title[:200], "reason": reason_of(error)}
    )


def reason_of(error: CmsError) -> str:
    """Return the error's messages with their fields, in one line."""
    sentences = [f"{path}: {text}" for path, texts in error.details.items() for text in texts]
    return (" ".join(sentences[:5]) or error.message)[:600]
