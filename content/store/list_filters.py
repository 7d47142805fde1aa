"""Filters and orders of lists by declared fields: which fields there are, and their conditions on posts.

A post type marks its fields as `filterable`. Fields of all posts are columns of `Post`, custom fields rows of
`FieldValue`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable, OrderBy

from content.models import Post, PostTerm
from content.store.field_values import values_of_post
from proofroom.core.database.replica import reading_connection
from proofroom.definitions import filterable_custom_fields, post_types

ValueKind = Literal["text", "choice", "number", "boolean", "date", "moment", "id", "terms"]
Operator = Literal[
    "eq", "ne", "in", "lt", "lte", "gt", "gte", "exists", "contains", "any", "all"
]  # fmt: skip
CUSTOM: Final = "customFields."
TERMS: Final = "terms"
_EQUALITY: Final[tuple[Operator, ...]] = ("eq", "ne", "in", "exists")
_RANGE: Final[tuple[Operator, ...]] = ("lt", "lte", "gt", "gte")
_SETS: Final[tuple[Operator, ...]] = ("any", "all")
_OPERATORS: Final[Mapping[ValueKind, tuple[Operator, ...]]] = {
    "text": (*_EQUALITY, *_RANGE, "contains"),
    "choice": (*_EQUALITY, "contains"),
    "number": (*_EQUALITY, *_RANGE),
    "boolean": ("eq", "ne", "exists"),
    "date": (*_EQUALITY, *_RANGE),
    "moment": (*_EQUALITY, *_RANGE),
    "id": _EQUALITY,
    "terms": (*_EQUALITY, *_SETS),
}
_KINDS: Final[Mapping[str, ValueKind]] = {
    "text": "text",
    "textarea": "text",
    "url": "text",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "select": "choice",
    "multiselect": "choice",
    "post-reference": "id",
    "taxonomy-reference": "id",
}
"""Kind of values by field type."""


@dataclass(frozen=True, slots=True)
class FilterField:
    """A field that lists can filter by. `column`: its column of `Post`; empty for a custom field and for terms.

    `has_many`: the field is a list, of which a condition compares the items.
    """

    name: str
    kind: ValueKind
    column: str = ""
    is_nullable: bool = False
    has_many: bool = False

    @property
    def operators(self) -> tuple[Operator, ...]:
        found = _OPERATORS[self.kind]
        return (*found, *_SETS) if self.has_many else found

    @property
    def custom_name(self) -> str:
        return self.name.removeprefix(CUSTOM)


POST_FILTERS: Final[Mapping[str, FilterField]] = {
    field.name: field
    for field in (
        FilterField("title", "text", "title"),
        FilterField("slug", "text", "slug"),
        FilterField("excerpt", "text", "excerpt"),
        FilterField("metaTitle", "text", "meta_title", is_nullable=True),
        FilterField("metaDescription", "text", "meta_description", is_nullable=True),
        FilterField("canonicalUrl", "text", "canonical_url", is_nullable=True),
        FilterField("publishedAt", "moment", "published_at", is_nullable=True),
        FilterField("updatedAt", "moment", "updated_at"),
        FilterField("createdAt", "moment", "created_at"),
        FilterField("featuredMediaId", "id", "featured_media_id", is_nullable=True),
        FilterField("parentId", "id", "parent_id", is_nullable=True),
        FilterField("orderIndex", "number", "order_index"),
    )
}
"""The fields of all posts that `PostType.filterable` can name."""
ALWAYS_ORDERABLE: Final = ("updatedAt", "createdAt", "publishedAt", "title", "slug", "orderIndex")
"""Fields that every list can be ordered by, filterable or not."""
_TERMS_FIELD: Final = FilterField(TERMS, "terms")


def filterable_fields(post_type: str | None) -> dict[str, FilterField]:
    """Return the filterable fields of a type, or without a type the fields that a list of all types can use, by name.

    These are the post fields that every type marks, and the custom fields that any type marks, unless two types
    declare one with different kinds.
    """
    types = post_types.names() if post_type is None else [post_type]
    shared = [set(definition.filterable) for name in types if (definition := post_types.get(name))]
    common = set.intersection(*shared) if shared else set()
    found = {name: field for name, field in POST_FILTERS.items() if name in common}
    custom: dict[str, FilterField] = {}
    unclear: set[str] = set()
    for name in types:
        for prop in filterable_custom_fields(name).values():
            field = FilterField(
                CUSTOM + prop.name, _KINDS[prop.kind], is_nullable=True, has_many=prop.has_many
            )
            if custom.setdefault(field.name, field) != field:
                unclear.add(field.name)
    found |= {name: field for name, field in custom.items() if name not in unclear}
    return {**found, TERMS: _TERMS_FIELD}


def orderable_fields(post_type: str | None) -> dict[str, FilterField]:
    """Return the fields that a list can be ordered by, by name."""
    found = {name: POST_FILTERS[name] for name in ALWAYS_ORDERABLE}
    found |= filterable_fields(post_type)
    return {
        name: field for name, field in found.items() if field.kind != "terms" and not field.has_many
    }


@dataclass(frozen=True, slots=True)
class Interval:
    """The times that a written time means: a day, or a millisecond, as the API answers times with milliseconds."""

    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class TermName:
    """A term by id, or by slug and perhaps taxonomy."""

    id: UUID | None = None
    slug: str = ""
    taxonomy: str = ""


FilterValue = str | float | bool | UUID | Interval | TermName


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one field. `exists` has the value True or False; only `in`, `any` and `all` have several."""

    field: FilterField
    operator: Operator
    values: tuple[FilterValue, ...]

    @property
    def subqueries(self) -> int:
        """The number of its subqueries at most. PostgreSQL plans 10 in 50 ms, but 50 in 3 s and 100 in a minute."""
        return len(self.values) if self.operator == "all" else 1


def apply_conditions(posts: QuerySet[Post], conditions: Collection[Condition]) -> QuerySet[Post]:
    """Return the posts that meet all conditions. `ne` and `exists` false also match empty values."""
    for condition in conditions:
        posts = posts.filter(_as_query(condition))
    return posts


def _as_query(condition: Condition) -> Q:
    field, operator, values = condition.field, condition.operator, condition.values
    if operator == "exists":
        return _is_set(field) if values[0] else ~_is_set(field)
    if operator == "ne":
        return ~_equals(field, values)
    if operator == "all":
        found = Q()
        for value in values:
            found &= _equals(field, (value,))
        return found
    if operator in ("eq", "in", "any"):
        return _equals(field, values)
    if operator == "contains" and (field.has_many or field.kind == "choice"):
        return _equals(field, values)
    return _compares(field, operator, values[0])


def _is_set(field: FilterField) -> Q:
    if field.kind == "terms":
        return Q(Exists(PostTerm.objects.filter(post=OuterRef("pk"))))
    if not field.column:
        return Q(Exists(values_of_post(field.custom_name, OuterRef("pk"))))
    found = Q(**{f"{field.column}__isnull": False})
    return found & ~Q(**{field.column: ""}) if field.kind == "text" else found


def _equals(field: FilterField, values: Sequence[FilterValue]) -> Q:
    """Return the condition that the field, or one item of it, has one of the values."""
    if field.kind == "terms":
        named = Q()
        for term in values:
            named |= _names_term(term)
        return Q(Exists(PostTerm.objects.filter(named, post=OuterRef("pk"))))
    if field.kind == "moment":
        found = Q()
        for value in values:
            found |= Q(
                **{f"{field.column}__gte": _interval(value).begin},
                **{f"{field.column}__lt": _interval(value).end},
            )
        return found
    if field.column:
        return Q(**{f"{field.column}__in": list(values)})
    column = "number" if field.kind == "number" else "text"
    stored = [_stored(value) for value in values]
    rows = values_of_post(field.custom_name, OuterRef("pk")).filter(**{f"{column}__in": stored})
    return Q(Exists(rows))


def _compares(field: FilterField, operator: Operator, value: FilterValue) -> Q:
    lookup: str = operator
    compared: object = value
    if operator == "contains":
        lookup = "icontains"
    elif field.kind == "moment":
        interval = _interval(value)
        # A day ends where the next one begins: `lte` includes all of it, `gt` nothing of it.
        lookup = {"lt": "lt", "lte": "lt", "gt": "gte", "gte": "gte"}[operator]
        compared = interval.begin if operator in ("lt", "gte") else interval.end
    if field.column:
        return Q(**{f"{field.column}__{lookup}": compared})
    column = "number" if field.kind == "number" else "text"
    rows = values_of_post(field.custom_name, OuterRef("pk"))
    return Q(Exists(rows.filter(**{f"{column}__{lookup}": _stored(value)})))


def _stored(value: FilterValue) -> str | float:
    """Return a value as `FieldValue` stores it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, float) else str(value)


def _interval(value: FilterValue) -> Interval:
    if not isinstance(value, Interval):
        raise TypeError(f"no interval: {value!r}")
    return value


def _names_term(value: FilterValue) -> Q:
    if not isinstance(value, TermName):
        raise TypeError(f"no term: {value!r}")
    if value.id is not None:
        return Q(term_id=value.id)
    taxonomy = {"term__taxonomy": value.taxonomy} if value.taxonomy else {}
    return Q(term__slug=value.slug, **taxonomy)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """A field to order by. Posts without a custom field come last in both directions."""

    field: FilterField
    is_descending: bool

    @property
    def text(self) -> str:
        return f"{'-' if self.is_descending else ''}{self.field.name}"


KeyValue = str | int | float | datetime | UUID | None
"""The value of an order key of a post."""


def order_by_keys(posts: QuerySet[Post], keys: Sequence[OrderKey]) -> QuerySet[Post]:
    """Order posts by keys. Ties are ordered by id, so that no post is on two pages."""
    posts = posts.annotate(
        **{
            _annotation(place): _first_value(key.field)
            for place, key in enumerate(keys)
            if not key.field.column
        }
    )
    return posts.order_by(*(_ordered(place, key) for place, key in enumerate(keys)), "id")


def key_columns(keys: Sequence[OrderKey]) -> dict[str, Combinable]:
    """Return columns with the values of the keys, for rows of `order_by_keys`."""
    return {f"key_{place}": F(_path(place, key)) for place, key in enumerate(keys)}


def follow_after(
    posts: QuerySet[Post], keys: Sequence[OrderKey], values: Sequence[KeyValue], post_id: UUID
) -> QuerySet[Post]:
    """Return the posts of `order_by_keys` that come after the post with these key values and this id."""
    found, equal = Q(), Q()
    for place, (key, value) in enumerate(zip(keys, values, strict=True)):
        later = _later(place, key, value)
        if later is not None:
            found |= equal & later
        path = _path(place, key)
        equal &= Q(**{f"{path}__isnull": True}) if value is None else Q(**{path: value})
    return posts.filter(found | (equal & Q(pk__gt=post_id)))


def _later(place: int, key: OrderKey, value: KeyValue) -> Q | None:
    """Return the condition that a key's value comes after this one; None if nothing does."""
    path = _path(place, key)
    if value is None:
        return None if _nulls_are_last(key) else Q(**{f"{path}__isnull": False})
    later = Q(**{f"{path}__{'lt' if key.is_descending else 'gt'}": value})
    if key.field.is_nullable and _nulls_are_last(key):
        later |= Q(**{f"{path}__isnull": True})
    return later


def _nulls_are_last(key: OrderKey) -> bool:
    # Columns keep the order of the database, which its indexes have: PostgreSQL takes null for the largest value,
    # SQLite for the smallest.
    if not key.field.column:
        return True
    return key.is_descending == (reading_connection().vendor == "sqlite")


def _ordered(place: int, key: OrderKey) -> OrderBy:
    # Columns as plain as possible, for the sake of indexes.
    last = None if key.field.column else True
    path = F(_path(place, key))
    return path.desc(nulls_last=last) if key.is_descending else path.asc(nulls_last=last)


def _path(place: int, key: OrderKey) -> str:
    return key.field.column or _annotation(place)


def _annotation(place: int) -> str:
    return f"ordered_by_{place}"


def _first_value(field: FilterField) -> Subquery:
    column = "number" if field.kind == "number" else "text"
    rows: QuerySet[Any, Any] = values_of_post(field.custom_name, OuterRef("pk"))
    return Subquery(rows.order_by(column).values(column)[:1])
