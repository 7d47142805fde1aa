"""The two edits of texts: putting one text for another, and taking that back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext

from proofroom.core.errors import invalid
from proofroom.core.find_replace.sources import Edit, batches
from proofroom.core.json import Json

LONGEST: Final = 1_000_000
"""Characters that a text may grow to before its own rules are asked."""
_PLAIN: Final = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]+")
"""Characters that stand for themselves in JSON."""


@dataclass(slots=True)
class Substitution(Edit):
    """Puts `new` for every `old`. Nothing in either has a meaning of its own."""

    old: str = ""
    new: str = ""
    is_case_sensitive: bool = True
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        letters = (re.escape(char) for char in self.old)
        if not self.is_case_sensitive:
            letters = (_either_case(char) for char in self.old)
        self._pattern = re.compile("".join(letters))

    def value(self, table: str, row: str, path: str, value: Json) -> Json:
        if not isinstance(value, str):
            return value
        count = len(self._pattern.findall(value))
        if len(value) + count * (len(self.new) - len(self.old)) > LONGEST:
            raise invalid(
                path,
                gettext("This would be longer than %(longest)s characters.")
                % {"longest": f"{LONGEST:,}"},
            )
        return self._pattern.sub(lambda _: self.new, value) if count else value

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
            conditions.append(
                self._holds(
                    written, json.dumps(self.old, ensure_ascii=connection.vendor == "sqlite")[1:-1]
                )
            )
        found = rows.filter(reduce(or_, conditions)).order_by(key)
        return list(found.values_list(key, flat=True).distinct())

    def _holds(self, column: str, text: str) -> Q:
        """A condition that no row with a place fails; the pattern decides what is one."""
        if self.is_case_sensitive:
            return Q(**{f"{column}__contains": text})
        longest = max(_PLAIN.findall(self.old), key=len, default="")
        return Q(**{f"{column}__icontains": longest}) if longest else Q()


def _either_case(char: str) -> str:
    forms = {form for form in (char, char.lower(), char.upper()) if len(form) == 1}
    return f"[{''.join(re.escape(form) for form in sorted(forms))}]"


@dataclass(slots=True)
class Restoration(Edit):
    """Puts back what stood at each place before, where nobody changed it since."""

    places: Mapping[tuple[str, str, str], tuple[Json, Json]] = field(default_factory=dict)
    """Before and after, by table, row and path."""
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

    def refuse(self, prefix: str, error: object) -> None:
        """What stood there before is no longer allowed: the row stays as it is."""


def restoration(rows: Iterable[tuple[str, str, str, Json, Json]], reason: str) -> Restoration:
    """The edit that undoes these places."""
    places = {(table, row, path): (before, after) for table, row, path, before, after in rows}
    return Restoration(reason=reason, places=places)
