"""Pages of tools: `{items, total, nextCursor}`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import Field

from core.errors import invalid
from core.json import JsonObject
from core.tools import Arguments, Result

T = TypeVar("T")


class Paged(Arguments):
    """A page of a list."""

    limit: int = Field(20, ge=1, le=100)
    cursor: str | None = Field(None, max_length=200)


class Page(Result):
    """`nextCursor` is there when more follows."""

    items: list[Any]
    total: int
    next_cursor: str | None = None


def page(
    rows: Sequence[T] | object,
    present: Callable[[T], JsonObject],
    *,
    total: int,
    limit: int,
    cursor: str | None,
) -> JsonObject:
    """The part of `rows` (a list or query in a stable order) that the cursor points at."""

    def each(part: list[T]) -> list[JsonObject]:
        return [present(row) for row in part]

    return page_together(rows, each, total=total, limit=limit, cursor=cursor)


def page_together(
    rows: Sequence[T] | object,
    present: Callable[[list[T]], list[JsonObject]],
    *,
    total: int,
    limit: int,
    cursor: str | None,
) -> JsonObject:
    """As `page`, where the rows of a page are presented at once."""
    start = _start(cursor)
    part: list[T] = list(rows[start : start + limit])  # type: ignore[index]  # a list or a query
    answer: JsonObject = {"items": present(part), "total": total}
    if start + len(part) < total and part:
        answer["nextCursor"] = _cursor(start + len(part))
    return answer


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"o{start}".encode()).decode().rstrip("=")


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        text = ""
    if not (text.startswith("o") and text[1:].isascii() and text[1:].isdigit() and len(text) < 12):
        raise invalid(
            "cursor", "This cursor is not one of ours. Omit cursor to start from the first page."
        )
    return int(text[1:])
