"""Pages of tools: `{items, total, nextCursor}`.

A cursor is a short text that is valid only for the list that returned it.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from pydantic import BeforeValidator, Field

from proofroom.core.database.row_counts import RowCount
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.search import RankedInstances
from proofroom.core.tools import Arguments, Result, get_tool
from proofroom.core.tools.schemas import row_fields

Part = datetime | UUID | int | str
"""The values of a cursor, from the last row of a page."""

CURSOR_MAX: Final = 2_000
_SEAL: Final = 6
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def seal_cursor(parts: Sequence[Part], *, of: str) -> str:
    """Return a signed cursor for the list `of`: its tool and filters. The signature prevents forged cursors."""
    body = b"".join(_pack(part) for part in parts)
    seal = _seal(body, of, settings.SECRET_KEY)
    return base64.urlsafe_b64encode(seal + body).decode().rstrip("=")


def open_cursor(cursor: str, *, of: str) -> list[Part]:
    """Return the values of a cursor. Raises `RuleViolation` if it belongs to another list."""
    try:
        # `seal_cursor` removes the padding.
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raise foreign_cursor_error() from None
    body = raw[_SEAL:]
    # Cursors from before a rotation of the key stay valid.
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(constant_time_compare(raw[:_SEAL], _seal(body, of, key)) for key in keys):
        raise foreign_cursor_error()
    parts: list[Part] = []
    while body:
        part, used = _READERS[body[:1]](body[1:])
        parts.append(part)
        body = body[1 + used :]
    return parts


def foreign_cursor_error() -> RuleViolation:
    return invalid(
        "cursor",
        "This cursor is not of this list: it goes with the tool and the filters of the call that answered it. "
        "Send those with it. Omit cursor to start from the first page.",
    )


def _seal(body: bytes, of: str, key: str) -> bytes:
    message = of.encode("utf-8", "surrogatepass") + b"\x00" + body
    made = salted_hmac("core.tool_cursors", message, secret=key, algorithm="sha256")
    return made.digest()[:_SEAL]


def _pack(part: Part) -> bytes:
    if isinstance(part, datetime):
        return b"d" + struct.pack(">q", (part - _EPOCH) // _MICROSECOND)
    if isinstance(part, UUID):
        return b"u" + part.bytes
    if isinstance(part, int):
        return b"i" + struct.pack(">q", part)
    text = part.encode()
    return b"s" + struct.pack(">H", len(text)) + text


def _text(body: bytes) -> tuple[Part, int]:
    length = struct.unpack(">H", body[:2])[0]
    return body[2 : 2 + length].decode(), 2 + length


_READERS: Final[dict[bytes, Callable[[bytes], tuple[Part, int]]]] = {
    b"d": lambda body: (_EPOCH + struct.unpack(">q", body[:8])[0] * _MICROSECOND, 8),
    b"u": lambda body: (UUID(bytes=body[:16]), 16),
    b"i": lambda body: (struct.unpack(">q", body[:8])[0], 8),
    b"s": _text,
}


T = TypeVar("T")
Format = Literal["concise", "full"]
Rows = QuerySet[Any, Any]
Present = Callable[[list[Any]], list[JsonObject]]


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("input should be a number")
    return value


class CursorPaged(Arguments):
    """A page of a list whose rows have one form."""

    limit: Annotated[int, BeforeValidator(_refuse_bool)] = Field(20, ge=1, le=100)
    cursor: str | None = Field(None, max_length=CURSOR_MAX)


class Paged(CursorPaged):
    """A page of a list. `concise` has what is needed to choose, `full` all details. `fields` names the wanted ones
    of `full`."""

    format: Format = "concise"
    fields: Annotated[list[str], Field(max_length=50)] = []

    @property
    def is_full(self) -> bool:
        return self.format == "full" or bool(self.fields)


class ToolPage(Result):
    """`nextCursor` is present if more follows."""

    has_narrow_rows: ClassVar[bool] = True
    items: list[Any]
    total: int
    next_cursor: str | None = None


def page(
    arguments: Paged, tool: str, rows: Sequence[T], present: Callable[[T], JsonObject]
) -> JsonObject:
    """Return a page of items that are in memory, such as definitions."""
    of = list_of(arguments, tool)
    start = 0
    if arguments.cursor is not None:
        start = cast(int, open_cursor(arguments.cursor, of=of)[0])
    part = rows[start : start + arguments.limit]
    end = start + len(part)
    following = seal_cursor([end], of=of) if end < len(rows) else None
    items = select_fields(arguments, tool, [present(row) for row in part])
    return _answer(items, RowCount(len(rows)), following)


def page_after(
    arguments: Paged,
    tool: str,
    rows: Rows,
    order: Sequence[str],
    present: Present,
    total: RowCount | None = None,
) -> JsonObject:
    """Return a page of rows ordered by columns, the last of which is unique.

    Rows inserted between two calls neither repeat nor hide others. Rows are counted unless `total` is given.
    """
    total = RowCount(rows.count()) if total is None else total
    if arguments.cursor is not None:
        # Rows after the row with this key.
        key, behind = open_cursor(arguments.cursor, of=list_of(arguments, tool)), Q()
        for place in reversed(range(len(order))):
            column, is_falling = order[place].lstrip("-"), order[place].startswith("-")
            beyond = Q(**{f"{column}__{'lt' if is_falling else 'gt'}": key[place]})
            behind = beyond if not behind else beyond | (Q(**{column: key[place]}) & behind)
        # Repeat the first column as a plain condition, so that an index on it can be used despite
        # the OR.
        rows = rows.filter(behind, **{f"{column}__{'lte' if is_falling else 'gte'}": key[0]})
    found = list(rows.order_by(*order)[: arguments.limit + 1])
    return page_of_found(arguments, tool, found, total, order, present)


def page_of_found(
    arguments: Paged,
    tool: str,
    found: Sequence[Any],
    total: RowCount,
    order: Sequence[str],
    present: Present,
) -> JsonObject:
    """Return a page of rows that were already read, including one more row if there are more."""
    part = list(found[: arguments.limit])
    following = None
    if len(found) > len(part):
        last, columns = part[-1], [column.lstrip("-") for column in order]
        key = [last[name] if isinstance(last, Mapping) else getattr(last, name) for name in columns]
        following = seal_cursor(key, of=list_of(arguments, tool))
    return _answer(select_fields(arguments, tool, present(part)), total, following)


def page_of_ranked(
    arguments: Paged,
    tool: str,
    rows: Rows | RankedInstances[Any],
    present: Present,
    created: str = "created_at",
) -> JsonObject:
    """Return a page of search results, best first. Later pages show only rows that existed at the first call."""
    of, start, since = list_of(arguments, tool), 0, timezone.now()
    if arguments.cursor is not None:
        start, since = cast("tuple[int, Any]", open_cursor(arguments.cursor, of=of))
        rows = rows.filter(**{f"{created}__lte": since})
    total = rows.count()
    part = list(rows[start : start + arguments.limit])
    end = start + len(part)
    following = seal_cursor([end, since], of=of) if part and end < total else None
    items = select_fields(arguments, tool, present(part))
    return _answer(items, RowCount(total), following)


def select_fields(arguments: Paged, tool: str, rows: list[JsonObject]) -> list[JsonObject]:
    """Return the rows with the requested fields, and the first one, which identifies a row.

    Raises `RuleViolation` on `fields` for a name that no row has.
    """
    if not arguments.fields:
        return rows
    declared = get_tool(tool)
    known = row_fields(declared.result) if declared is not None and declared.result else []
    for name in arguments.fields:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            message = (
                f"Rows of {tool} have no field {name[:80]!r}.{hint} Known: {', '.join(known)}."
            )
            raise invalid("fields", message, code="unknown_field")
    wanted = {*arguments.fields, *known[:1]}
    return [{name: value for name, value in row.items() if name in wanted} for row in rows]


def _answer(items: list[JsonObject], total: RowCount, following: str | None) -> JsonObject:
    answer: JsonObject = {"items": items, "total": total.number}
    if not total.is_exact:
        answer["totalIsEstimate"] = True
    return answer if following is None else {**answer, "nextCursor": following}


def list_of(arguments: CursorPaged, tool: str) -> str:
    """Return the name of a list for its cursors: the tool and its filters."""
    filters = arguments.model_dump_json(exclude={"limit", "cursor", "format", "fields"})
    return f"{tool} {filters}"
