"""The selection of an export, and the state of a running export."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from proofroom.archive.container import ArchiveWriter
from proofroom.archive.people import all_references
from proofroom.core.json import JsonObject

PERMISSION: Final = "settings.manage"


@dataclass(frozen=True, slots=True)
class Choice:
    """The content to export; everything if all fields are empty.

    `kinds` are names of kinds. The other fields select posts and are combined with AND. `posts` and `sections` are
    ids, slugs or addresses; a section is a post with all its descendants. Selected posts are exported with their
    ancestors and the files, terms, forms and global modules they reference. `published_only` leaves out drafts and
    staged changes.
    """

    kinds: frozenset[str] = frozenset()
    posts: frozenset[str] = frozenset()
    sections: frozenset[str] = frozenset()
    post_types: frozenset[str] = frozenset()
    locales: frozenset[str] = frozenset()
    changed_since: datetime | None = None
    published_only: bool = False
    revisions: bool = False

    @property
    def is_narrowed(self) -> bool:
        """True if only some of the posts are exported."""
        return bool(
            self.posts
            or self.sections
            or self.post_types
            or self.locales
            or self.changed_since
            or self.published_only
        )


@dataclass(slots=True)
class Export:
    """The state of a running export. Kinds use it to add files and to reference people."""

    writer: ArchiveWriter
    choice: Choice
    notes: list[str] = field(default_factory=list)
    wanted: dict[str, set[str]] = field(default_factory=dict)
    """Ids to export, by kind. A kind that the choice does not restrict is missing."""
    _references: dict[int, str] = field(default_factory=all_references)
    _referenced: set[str] = field(default_factory=set)

    def has_kind(self, name: str) -> bool:
        choice = self.choice
        if name == "revisions":
            return choice.revisions
        if name == "drafts" and choice.published_only:
            return False
        if choice.kinds:
            return name in choice.kinds
        return not choice.is_narrowed or name in self.wanted

    def of_kind(self, name: str) -> Collection[str] | None:
        """Return the ids to export of a kind (slugs for forms); None for all."""
        return self.wanted.get(name)

    def person(self, user_id: int | None) -> str | None:
        """Return the reference of an account; None if it was deleted."""
        reference = self._references.get(user_id) if user_id is not None else None
        if reference is not None:
            self._referenced.add(reference)
        return reference

    def people(self) -> Iterator[JsonObject]:
        """Yield the people that rows referenced so far."""
        for reference in sorted(self._referenced):
            yield {"person": reference}
