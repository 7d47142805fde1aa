"""Pages of tools: `{items, total, nextCursor}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, cast

from django.db.models import Q, QuerySet
from django.utils import timezone
from pydantic import BeforeValidator, Field

from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result
from proofroom.core.tools.cursors import CURSOR_MAX, Part, open_cursor, seal_cursor

T = TypeVar("T")
Format = Literal["concise", "full"]
Rows = QuerySet[Any, Any]
Present = Callable[[list[Any]], list[JsonObject]]


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("input should be a number")
    return value


class Paged(Arguments):
    """A page of a list. `concise` is what it takes to choose, `full` the rest of what there is to read."""

    limit: Annotated[int, BeforeValidator(_no_flag)] = Field(20, ge=1, le=100)
    cursor: str | None = Field(None, max_length=CURSOR_MAX)
    format: Format = "concise"

    @property
    def is_full(self) -> bool:
        return self.format == "full"


class ToolPage(Result):
    """`nextCursor` is there when more follows."""

    items: list[Any]
    total: int
    next_cursor: str | None = None


def page(
    arguments: Paged, tool: str, rows: Sequence[T], present: Callable[[T], JsonObject]
) -> JsonObject:
    """A part of what is all at hand, such as definitions."""
    of = _list_of(arguments, tool)
    start = 0
    if arguments.cursor is not None:
        start = cast(int, open_cursor(arguments.cursor, of=of)[0])
    part = rows[start : start + arguments.limit]
    end = start + len(part)
    following = seal_cursor([end], of=of) if end < len(rows) else None
    return _answer([present(row) for row in part], len(rows), following)


def page_after(
    arguments: Paged, tool: str, rows: Rows, order: Sequence[str], present: Present
) -> JsonObject:
    """A part of rows in the order of columns, the last of which is unique: what comes in between repeats and hides
    no other row."""
    of, total = _list_of(arguments, tool), rows.count()
    if arguments.cursor is not None:
        rows = rows.filter(_after(order, open_cursor(arguments.cursor, of=of)))
    found = list(rows.order_by(*order)[: arguments.limit + 1])
    part = found[: arguments.limit]
    following = None
    if len(found) > len(part):
        key = [_value(part[-1], column.lstrip("-")) for column in order]
        following = seal_cursor(key, of=of)
    return _answer(present(part), total, following)


def page_of_ranked(
    arguments: Paged, tool: str, rows: Rows, present: Present, created: str = "created_at"
) -> JsonObject:
    """A part of what a search found, best first, in the order that the rows have: on later pages of what there was
    when the first one was read."""
    of, start, since = _list_of(arguments, tool), 0, timezone.now()
    if arguments.cursor is not None:
        start, since = cast("tuple[int, Any]", open_cursor(arguments.cursor, of=of))
        rows = rows.filter(**{f"{created}__lte": since})
    total = rows.count()
    part = list(rows[start : start + arguments.limit])
    end = start + len(part)
    following = seal_cursor([end, since], of=of) if part and end < total else None
    return _answer(present(part), total, following)


def present_each(present: Callable[[T], JsonObject]) -> Callable[[list[T]], list[JsonObject]]:
    """To present rows one by one."""
    return lambda rows: [present(row) for row in rows]


def _answer(items: list[JsonObject], total: int, following: str | None) -> JsonObject:
    answer: JsonObject = {"items": items, "total": total}
    return answer if following is None else {**answer, "nextCursor": following}


def _list_of(arguments: Paged, tool: str) -> str:
    filters = arguments.model_dump_json(exclude={"limit", "cursor", "format"})
    return f"{tool} {filters}"


def _after(order: Sequence[str], key: Sequence[Part]) -> Q:
    """Rows behind the one with this key."""
    behind = Q()
    for place in reversed(range(len(order))):
        column = order[place].lstrip("-")
        beyond = Q(**{f"{column}__{'lt' if order[place].startswith('-') else 'gt'}": key[place]})
        behind = beyond if not behind else beyond | (Q(**{column: key[place]}) & behind)
    first = order[0].lstrip("-")
    # Said once more, so that an index can begin there.
    return behind & Q(**{f"{first}__{'lte' if order[0].startswith('-') else 'gte'}": key[0]})


def _value(row: object, column: str) -> Part:
    return cast(Part, row[column] if isinstance(row, Mapping) else getattr(row, column))
