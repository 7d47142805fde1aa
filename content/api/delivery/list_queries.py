"""Questions to lists of the delivery API: `ids`, `filter[…][…]`, `ordering`, `after`, `facets` and `include`.

Everything is checked and bounded before a query runs. 422 names the parameter and what is allowed; the code is
`not_filterable` for a field that its type does not mark, and `cost_exceeded` for too much at once.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, cast
from uuid import UUID

import orjson
from drf_spectacular.utils import OpenApiParameter

from content.document.post_fields import POST_FIELDS
from content.presenters.related_content import WEIGHTS, Tree, parse_include
from content.store.list_filters import (
    CUSTOM,
    POST_FILTERS,
    Condition,
    FilterField,
    FilterValue,
    Interval,
    KeyValue,
    Operator,
    OrderKey,
    TermName,
    ValueKind,
    filterable_fields,
    orderable_fields,
)
from content.store.post_queries import NEWEST_FIRST, ORDERINGS
from proofroom.core.api.pagination import HasQuery, page_of
from proofroom.core.api.schema import names_pattern, query_parameter
from proofroom.core.errors import RuleViolation, cost_exceeded, invalid
from proofroom.core.i18n.time_zones import LATEST_YEAR
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.core.validation.moments import parse_moment
from proofroom.definitions import post_types, props_of, taxonomies

MAX_CONDITIONS: Final = 10
MAX_VALUES: Final = 100
MAX_ORDER_KEYS: Final = 3
VALUE_MAX: Final = 300
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?", re.ASCII)
_FILTER: Final = re.compile(r"filter\[([^\[\]]{1,100})\](?:\[([^\[\]]{1,20})\])?")
_MAX_CURSOR: Final = 4_000
FACETS: Final = ("terms", "type")
_NAMES: Final = frozenset({"ids", "ordering", "after", "facets", "include"})
PARAMETERS: Final = [
    query_parameter(
        "ids", f"Ids of posts in any language with commas between them, at most {MAX_VALUES}."
    ),
    OpenApiParameter(
        "filter",
        {"type": "object", "additionalProperties": True},
        OpenApiParameter.QUERY,
        description=(
            "filter[<field>][<operator>]=<value>, as in filter[publishedAt][gte]=2026-01-31 and "
            "filter[customFields.rating][in]=4,5 and filter[terms][any]=topics:soil. You can filter by "
            "fields that the post type marks as filterable; without an operator it is eq. Operators: eq, ne, in, "
            "lt, lte, gt, gte, exists, contains, any, all."
        ),
        style="deepObject",
        explode=True,
    ),
    query_parameter(
        "ordering",
        f"Up to {MAX_ORDER_KEYS} filterable fields with commas between them; - before one reverses it.",
        {"type": "string", "default": NEWEST_FIRST},
    ),
    query_parameter(
        "after",
        "`meta.next` of the last answer; empty begins. The answer then has no page numbers. Without `ordering`, the "
        "newest created posts come first, so that an edit moves no post while you read.",
    ),
    query_parameter(
        "facets",
        f"Counts of the posts by {' and '.join(FACETS)}, after all filters.",
        {"type": "string", "pattern": names_pattern(FACETS)},
    ),
]
INCLUDE: Final = query_parameter(
    "include",
    f"Related things in `included`, each once: {', '.join(WEIGHTS)}. Dots lead on, as in children.media.",
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place after which a page begins. Both are empty at the beginning of a list."""

    values: tuple[KeyValue, ...] = ()
    post_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A checked question. `is_plain`: nothing was asked that a simple list does not answer."""

    conditions: tuple[Condition, ...] = ()
    ids: tuple[UUID, ...] | None = None
    order: tuple[OrderKey, ...] | None = None
    cursor: Cursor | None = None
    facets: tuple[str, ...] = ()
    include: Tree | None = None
    filter_text: str = ""
    """The parameters that decide which posts match, for the cache of counts."""

    @property
    def is_plain(self) -> bool:
        return self.has_all_posts and not self.facets and self.include is None

    @property
    def has_all_posts(self) -> bool:
        """Return whether it only asks for a page of the list in a usual order."""
        return (
            not self.conditions and self.ids is None and self.order is None and self.cursor is None
        )


def is_filter_name(name: str) -> bool:
    return _FILTER.fullmatch(name) is not None


def parse_list_query(request: HasQuery) -> ListQuery:
    """Return the question of a request. Raises `RuleViolation`."""
    query = request.query_params
    if not any(name in _NAMES or name.startswith("filter") for name in query):
        return ListQuery()
    post_type = query.get("type") or None
    if post_type is not None and post_type not in post_types:
        raise invalid("type", f"type must be one of: {', '.join(sorted(post_types.names()))}.")
    if "filter" in query:
        raise invalid("filter", "Write filter[<field>][<operator>]=<value>.")
    filters = {name: text for name, text in query.items() if name.startswith("filter[")}
    ids = parse_ids(query["ids"], "posts") if "ids" in query else None
    order = _order(query, post_type)
    size = page_of(request).size if ids is None else min(page_of(request).size, len(ids))
    return ListQuery(
        conditions=_conditions(filters, post_type),
        ids=ids,
        order=order,
        cursor=_cursor(query, order or default_order()),
        facets=_facets(query["facets"]) if "facets" in query else (),
        include=parse_include(query["include"], posts=size) if "include" in query else None,
        filter_text=repr(sorted([*filters.items(), *([("ids", query["ids"])] if ids else [])])),
    )


def default_order() -> tuple[OrderKey, ...]:
    """Return the order of a list with a cursor that names none."""
    # Not by `updatedAt` like pages: a post that is edited meanwhile would move to where the reader has been.
    return (OrderKey(POST_FILTERS["createdAt"], is_descending=True),)


def parse_ids(text: str, of: str) -> tuple[UUID, ...]:
    """Return the distinct ids in a parameter `ids`, of posts or terms. Raises `RuleViolation`."""
    found = [parse_uuid(name.strip()) for name in _split(text, "ids")]
    if None in found:
        raise invalid("ids", f"ids must be IDs (UUIDs) of {of} with commas between them.")
    return tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))


def _split(text: str, parameter: str) -> list[str]:
    """Return the values of a list; `\\,` is a comma inside a value."""
    if text.count(",") >= MAX_VALUES * 2 or len(text) > MAX_VALUES * VALUE_MAX:
        raise cost_exceeded(parameter, f"{parameter} takes at most {MAX_VALUES} values.")
    values = [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]
    if len(values) > MAX_VALUES:
        raise cost_exceeded(parameter, f"{parameter} takes at most {MAX_VALUES} values.")
    return values


def _facets(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text[:100].split(",")]
    if not set(names) <= set(FACETS):
        raise invalid("facets", f"facets must be a comma-separated list of: {', '.join(FACETS)}.")
    return tuple(dict.fromkeys(names))


def _conditions(filters: Mapping[str, str], post_type: str | None) -> tuple[Condition, ...]:
    if not filters:
        return ()
    if len(filters) > MAX_CONDITIONS:
        raise _too_many_conditions()
    known = filterable_fields(post_type)
    conditions = tuple(_condition(name, text, known) for name, text in filters.items())
    if sum(condition.subqueries for condition in conditions) > MAX_CONDITIONS:
        raise _too_many_conditions()
    return conditions


def _too_many_conditions() -> RuleViolation:
    return cost_exceeded(
        "filter",
        f"At most {MAX_CONDITIONS} filters can be combined. Each value of [all] counts as one.",
    )


def _condition(name: str, text: str, known: Mapping[str, FilterField]) -> Condition:
    match = _FILTER.fullmatch(name)
    if match is None:
        raise invalid(name[:80], "Write filter[<field>][<operator>]=<value>.")
    field = known.get(match[1])
    if field is None:
        raise invalid(
            name[:80],
            f"{match[1]!r} is not filterable here. Filterable are: {', '.join(known)}.",
            code="not_filterable",
        )
    operator = match[2] or "eq"
    if operator not in field.operators:
        raise invalid(name[:80], f"{field.name} takes the operators {', '.join(field.operators)}.")
    if operator == "exists":
        if text not in ("true", "false"):
            raise invalid(name, f"{name} must be one of: true, false.")
        return Condition(field, "exists", (text == "true",))
    # Only lists are split: other values may contain commas.
    has_many = operator in ("in", "any", "all")
    texts = _split(text, name) if has_many else [text.replace("\\,", ",")]
    values = tuple(_value(name, one.strip(), field) for one in texts)
    return Condition(field, cast(Operator, operator), values)


def _value(name: str, text: str, field: FilterField) -> FilterValue:
    read, expected = _READERS[field.kind]
    value = read(text) if 0 < len(text) <= VALUE_MAX and "\x00" not in text else None
    if field.kind == "number" and field.column and isinstance(value, float):
        # The column holds whole numbers, and the database would round others.
        value, expected = (int(value) if value.is_integer() else None), "whole numbers"
    if value is None:
        hint = " Use [exists]=false for empty values." if not text else ""
        raise invalid(name, f"{name} takes {expected}.{hint}")
    return value


def _read_number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _read_day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
    return found if found is not None and found.year <= LATEST_YEAR else None


def _read_date(text: str) -> str | None:
    day = _read_day(text)
    return day.isoformat() if day is not None else None


def _read_moment(text: str) -> Interval | None:
    if (day := _read_day(text)) is not None:
        begin = datetime.combine(day, time(), UTC)
        return Interval(begin, begin + timedelta(days=1))
    moment = parse_moment(text, zone=UTC)
    if moment is None:
        return None
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    return Interval(moment, moment + timedelta(milliseconds=1))


def _read_term(text: str) -> TermName | None:
    if (id_ := parse_uuid(text)) is not None:
        return TermName(id=id_)
    taxonomy, colon, slug = text.rpartition(":")
    if not slug or (colon and taxonomy not in taxonomies.names()):
        return None
    return TermName(slug=slug, taxonomy=taxonomy)


_READERS: Final[Mapping[ValueKind, tuple[Callable[[str], FilterValue | None], str]]] = {
    "text": (str, f"text of at most {VALUE_MAX} characters"),
    "choice": (str, f"text of at most {VALUE_MAX} characters"),
    "number": (_read_number, "numbers"),
    "boolean": ({"true": True, "false": False}.get, "true or false"),
    "date": (_read_date, "dates, such as 2026-01-31"),
    "moment": (_read_moment, "dates or times, such as 2026-01-31 or 2026-01-31T08:00:00Z"),
    "id": (parse_uuid, "IDs (UUIDs)"),
    "terms": (_read_term, "IDs of terms, their slugs, or taxonomy:slug"),
}


def _order(query: Mapping[str, str], post_type: str | None) -> tuple[OrderKey, ...] | None:
    """Return the order of the query; None without one, or for one that a simple list has."""
    text = query.get("ordering")
    if text is None or text.removeprefix("-") in ORDERINGS:
        keyed = text is not None and "after" in query
        return (_order_key(str(text), orderable_fields(None)),) if keyed else None
    if text.count(",") >= MAX_ORDER_KEYS:
        raise cost_exceeded("ordering", f"ordering takes at most {MAX_ORDER_KEYS} fields.")
    known = orderable_fields(post_type)
    keys = tuple(_order_key(part.strip(), known) for part in text.split(","))
    if len({key.field.name for key in keys}) < len(keys):
        raise invalid("ordering", "ordering names each field once.")
    return keys


def _order_key(text: str, known: Mapping[str, FilterField]) -> OrderKey:
    name = text.removeprefix("-")
    if name in known:
        return OrderKey(known[name], text.startswith("-"))
    sentence = f"Order by: {', '.join(known)}; - before one reverses it."
    custom = {
        CUSTOM + prop for definition in post_types for prop in props_of(definition.CustomFields)
    }
    if name in POST_FIELDS or name in custom:
        message = f"{name} is not filterable. {sentence}"
        raise invalid("ordering", message, code="not_filterable")
    raise invalid("ordering", sentence)


def order_text(keys: Sequence[OrderKey]) -> str:
    return ",".join(key.text for key in keys)


def cursor_text(keys: Sequence[OrderKey], values: Sequence[KeyValue], post_id: UUID) -> str:
    """Return the cursor after a post, for `after`."""
    return (
        base64.urlsafe_b64encode(orjson.dumps([order_text(keys), list(values), post_id]))
        .decode()
        .rstrip("=")
    )


def _cursor(query: Mapping[str, str], keys: Sequence[OrderKey]) -> Cursor | None:
    text = query.get("after")
    if text is None:
        return None
    if "page" in query:
        raise invalid("page", "page and after exclude each other.")
    if query.get("search") and "ordering" not in query:
        raise invalid(
            "after", "A search by relevance has no cursor. Name an ordering, or use page."
        )
    if not text:
        return Cursor()
    found = _read_cursor(text, keys)
    if found is None:
        raise invalid(
            "after", "after must be meta.next of an answer with the same ordering; empty begins."
        )
    return found


def _read_cursor(text: str, keys: Sequence[OrderKey]) -> Cursor | None:
    if len(text) > _MAX_CURSOR:
        return None
    try:
        padded = text + "=" * (-len(text) % 4)
        parts = orjson.loads(base64.b64decode(padded.encode(), altchars=b"-_", validate=True))
    # `ValueError` includes errors of base64, UTF-8 and JSON.
    except (ValueError, binascii.Error):
        return None
    if not isinstance(parts, list) or len(parts) != 3:
        return None
    ordering, values, id_text = parts
    post_id = parse_uuid(id_text) if isinstance(id_text, str) else None
    if (
        ordering != order_text(keys)
        or not isinstance(values, list)
        or len(values) != len(keys)
        or post_id is None
    ):
        return None
    read = [_key_value(key, value) for key, value in zip(keys, values, strict=True)]
    return (
        Cursor(tuple(value for value, _is_valid in read), post_id)
        if all(is_valid for _value, is_valid in read)
        else None
    )


def _key_value(key: OrderKey, value: object) -> tuple[KeyValue, bool]:
    """Return a value of a cursor and whether it fits the key."""
    if value is None:
        return None, key.field.is_nullable
    if key.field.kind == "moment":
        moment = parse_moment(value)
        return moment, moment is not None
    if key.field.kind == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_number = is_number and abs(cast(float, value)) < 10**15
        return (cast(float, value), True) if is_number else (None, False)
    if not isinstance(value, str) or "\x00" in value:
        return None, False
    if key.field.kind == "id" and key.field.column:
        id_ = parse_uuid(value)
        return id_, id_ is not None
    return value, True
