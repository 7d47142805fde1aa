"""What an export is asked for, and its state while it runs."""

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
    """What of the site to export: everything where nothing is named.

    `kinds` are names of kinds; the rest narrows the posts, all of it together. `posts` and `sections` are ids, slugs
    or addresses; a section is a post with all below it. What the chosen posts refer to comes with them: what stands
    above them, their files, terms, forms and global modules. `published_only` leaves out drafts and what is staged.
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
        """Whether only some of the posts are exported."""
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
    """One export while it is written. Kinds add files and name people through it."""

    writer: ArchiveWriter
    choice: Choice
    notes: list[str] = field(default_factory=list)
    wanted: dict[str, set[str]] = field(default_factory=dict)
    """By kind, what of it is exported. What the choice does not narrow is not in it."""
    _people: dict[int, str] = field(default_factory=all_references)
    _named: set[str] = field(default_factory=set)

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
        """The ids (of forms the slugs) that the choice has of a kind; None for all."""
        return self.wanted.get(name)

    def person(self, user_id: int | None) -> str | None:
        """The reference of an account; None where it is gone."""
        found = self._people.get(user_id) if user_id is not None else None
        if found is not None:
            self._named.add(found)
        return found

    def people(self) -> Iterator[JsonObject]:
        """The people that rows have named so far."""
        for reference in sorted(self._named):
            yield {"person": reference}
