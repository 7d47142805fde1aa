"""The OpenAPI descriptions of the delivery API: posts of which a caller may ask for some fields only."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from content.api.schema.posts import ListedLivePostSchema, LivePostSchema
from core.api.schema import MetaSchema, query

LISTED: Final = frozenset(ListedLivePostSchema().fields)
WHOLE: Final = frozenset(LivePostSchema().fields)
FIELDS_MAX: Final = 500


def _fields(names: frozenset[str]) -> OpenApiParameter:
    one = "|".join(sorted(names))
    return query(
        "fields",
        f"Only these, with commas between them; all without it: {', '.join(sorted(names))}.",
        {"type": "string", "maxLength": FIELDS_MAX, "pattern": f"^({one})(,({one}))*$"},
    )


FIELDS: Final = _fields(WHOLE)
LIST_FIELDS: Final = _fields(LISTED)


class SparseListedLivePostSchema(ListedLivePostSchema):
    """A published post in a list. Everything is there unless `fields` asks for less."""

    def get_fields(self) -> dict[str, Any]:
        return _optional(super().get_fields())


class SparseLivePostSchema(LivePostSchema):
    """A published post. Everything is there unless `fields` asks for less."""

    def get_fields(self) -> dict[str, Any]:
        return _optional(super().get_fields())


class SparseLivePostListSchema(serializers.Serializer[object]):
    """Published posts."""

    data = SparseListedLivePostSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


def _optional(fields: dict[str, Any]) -> dict[str, Any]:
    for field in fields.values():
        field.required = False
    return fields
