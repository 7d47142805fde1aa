"""Pages of lists with the envelope `{data, meta}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proofroom.core.database.row_counts import RowCount
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject

PER_PAGE = 20
MOST_PER_PAGE = 100
LAST_PAGE = 10_000_000


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested page of a list; both numbers start at 1."""

    number: int
    size: int

    @property
    def slice(self) -> slice:
        return slice((self.number - 1) * self.size, self.number * self.size)

    def envelope(self, rows: Sequence[object], total: int | RowCount) -> JsonObject:
        count = RowCount(total) if isinstance(total, int) else total
        count = count.seen_from(self.slice.start, self.size, len(rows))
        meta: JsonObject = {
            "total": count.number,
            "per_page": self.size,
            "current_page": self.number,
            "last_page": max(1, -(-count.number // self.size)),
        }
        if not count.is_exact:
            meta["total_is_estimate"] = True
        return {
            "data": list(rows),  # type: ignore[arg-type]  # built by presenters
            "meta": meta,
        }


class HasQuery(Protocol):
    """A request with query parameters."""

    @property
    def query_params(self) -> Mapping[str, str]: ...


def page_of(request: HasQuery) -> PageRequest:
    """Return the requested page. Raises `RuleViolation` for values out of range."""
    return PageRequest(
        _number(request, "page", 1, LAST_PAGE),
        _number(request, "per_page", PER_PAGE, MOST_PER_PAGE),
    )


def _number(request: HasQuery, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        raise invalid(name, f"{name} must be a whole number from 1 to {most:,}.")
    return int(text)
