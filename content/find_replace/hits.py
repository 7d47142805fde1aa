"""A preview of find and replace: each hit with its text before and after."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from content.find_replace.allowed_tables import require_searchable
from content.find_replace.services import Substitution, apply_edit, check_search
from content.store.digest import keyed_hash
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json
from proofroom.definitions.richtext.links import MAX_HREF

MAX_HITS: Final = 20_000
_CONTEXT: Final = 60
"""Number of characters shown on each side of a hit."""
_ADDRESS: Final = re.compile(r"https?:|mailto:|tel:|/\S", re.IGNORECASE)
_ADDRESS_END: Final = re.compile(r"[\s()<>\"'`\[\]]")


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence. `key` identifies it and its whole text, so it changes with the text.

    `is_in_address`: it is part of a URL or path, which a replacement may break.
    """

    table: str
    row: str
    field: str
    key: str
    lead: str
    old: str
    new: str
    tail: str
    is_in_address: bool


@dataclass(slots=True)
class HitFinder(Substitution):
    """An edit that records all hits without writing. `blocked` holds the reasons why values can't be stored."""

    hits: list[Hit] = field(default_factory=list)
    blocked: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Messages by table and row, then by the start of the field path."""

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        after = Substitution.value(self, table, row, path, value)
        if after == value or not isinstance(value, str):
            return after
        place = place_key(table, row, path, value)
        for number, match in enumerate(self.pattern.finditer(value)):
            start, end = match.span()
            self.hits.append(
                Hit(
                    table,
                    row,
                    path,
                    # The number distinguishes several occurrences in one text.
                    f"{place}.{number}",
                    ("…" if start > _CONTEXT else "") + value[max(0, start - _CONTEXT) : start],
                    match[0],
                    self.new,
                    value[end : end + _CONTEXT] + ("…" if len(value) > end + _CONTEXT else ""),
                    # Not flagged if the search text itself is an address.
                    is_in_address=not _ADDRESS.match(self.old) and is_in_address(value, start, end),
                )
            )
        if len(self.hits) > MAX_HITS:
            raise TooManyHits
        return after

    def refuse(self, prefix: str, error: RuleViolation) -> None:
        for path, sentences in (error.details or {"": [error.message]}).items():
            whole = ".".join(part for part in (prefix, path) if part)
            table, row, *rest = [*whole.split(".", 2), ""]
            self.blocked.setdefault((table, row), {})[rest[0]] = sentences[0]

    def problem(self, hit: Hit) -> str:
        """Return why the hit can't be replaced, or an empty string."""
        found = self.blocked.get((hit.table, hit.row), {})
        return next(
            (text for path, text in found.items() if not path or hit.field.startswith(path)), ""
        )


class TooManyHits(Exception):
    """There are more hits than can be listed."""


@dataclass(slots=True)
class ChosenSubstitution(Substitution):
    """An edit that replaces only the chosen hits, if their text is unchanged. `used` holds the keys it found."""

    rows: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Ids of the rows with a chosen hit, by table."""
    chosen: Collection[str] = ()
    used: set[str] = field(default_factory=set)

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        if not isinstance(value, str) or row not in self.rows.get(table, ()):
            return value
        if not self.pattern.search(value):
            return value
        place = place_key(table, row, path, value)
        parts: list[str] = []
        at = 0
        for number, match in enumerate(self.pattern.finditer(value)):
            key = f"{place}.{number}"
            if key in self.chosen:
                self.used.add(key)
                parts += [value[at : match.start()], self.new]
                at = match.end()
        return "".join([*parts, value[at:]])

    def rows_named(self) -> list[tuple[str, str]]:
        return [(table, row) for table, rows in self.rows.items() for row in rows]

    def keys(
        self,
        table: str,
        rows: QuerySet[Any],
        *,
        texts: Sequence[str] = (),
        documents: Sequence[str] = (),
        key: str = "pk",
    ) -> list[Any]:
        found: set[Any] = set()
        for part in batches(sorted(self.rows.get(table, ()))):
            found.update(rows.filter(pk__in=part).values_list(key, flat=True))
        return sorted(found)


def is_in_address(text: str, start: int, end: int) -> bool:
    """Return whether this part of a text belongs to an address, such as `/blog/coffee` or `https://…`."""
    # Limited to the longest link, so that a long text without spaces isn't copied for each hit.
    before = _ADDRESS_END.split(text[max(0, start - MAX_HREF) : start])[-1]
    after = _ADDRESS_END.split(text[end : end + MAX_HREF], maxsplit=1)[0]
    return _ADDRESS.match(before + text[start:end] + after) is not None


def place_key(table: str, row: str, path: str, value: str) -> str:
    """Return a hash of a text and its place. Keyed, so that clients can't forge it."""
    return keyed_hash("find-replace", table, row, path, value)[:20]


def find_hits(
    *,
    actor: Actor,
    find: str,
    replace: str,
    tables: Collection[str],
    is_case_sensitive: bool = True,
    is_whole_words: bool = False,
) -> HitFinder:
    """Return every hit in live content, and the values that could not be stored. Writes nothing.

    Raises `RuleViolation` on `find` for more than `MAX_HITS` hits, `NotAllowed` for tables whose texts the
    actor may not see.
    """
    actor.require_person("find and replace")
    actor.require("content.replace")
    check_search(find, replace, tables)
    require_searchable(actor, tables)
    if find == replace:
        raise invalid("replace", _("This is the same as the text to find."))
    finder = HitFinder(
        reason="find-replace",
        writes=False,
        old=find,
        new=replace,
        is_case_sensitive=is_case_sensitive,
        is_whole_words=is_whole_words,
    )
    try:
        with transaction.atomic():
            apply_edit(finder, tables, actor)
    except TooManyHits:
        text = _("More than %(most)s results. Search for a longer text, or in fewer places.")
        raise invalid("find", text % {"most": f"{MAX_HITS:,}"}, code="too_many") from None
    return finder
