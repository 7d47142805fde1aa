"""The OpenAPI descriptions of the delivery API: posts of which a caller may ask for some fields only."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from content.api.schema.posts import ListedLivePostSchema, LivePostSchema
from content.models.post import VARIATION_PATTERN
from core.api.schema import MetaSchema, query
from media.api.schema import FocalPointSchema, VariantsSchema


class DeliveredMediaSchema(serializers.Serializer[object]):
    """A file that a post uses. `variants` are there once they are made."""

    url = serializers.CharField()
    mime = serializers.CharField()
    alt = serializers.CharField(allow_blank=True)
    width = serializers.IntegerField(allow_null=True, min_value=1)
    height = serializers.IntegerField(allow_null=True, min_value=1)
    variants = VariantsSchema()
    darkVariants = VariantsSchema()
    focalPoint = FocalPointSchema(allow_null=True)


class ArmSchema(serializers.Serializer[object]):
    """A running variation."""

    id = serializers.UUIDField()
    variation = serializers.CharField()
    weight = serializers.IntegerField(
        min_value=1, max_value=100, help_text="Percent of the visitors; the post has the rest."
    )


class DeliveredPostSchema(LivePostSchema):
    """A published post, with the files that its fields and modules name, by id."""

    media = serializers.DictField(child=DeliveredMediaSchema())
    variations = ArmSchema(many=True, required=False, help_text="While variations of it run.")
    variationOf = serializers.UUIDField(  # names of the wire
        required=False, help_text="The post in whose place this variation is shown."
    )
    variation = serializers.CharField(required=False, help_text="The name of this variation.")


LISTED: Final = frozenset(ListedLivePostSchema().fields)
LISTABLE: Final = LISTED | {"media"}
"""What a list can be asked for: the files are not there unless `fields` names them."""
WHOLE: Final = frozenset(DeliveredPostSchema().fields)
FIELDS_MAX: Final = 500


def _fields(names: frozenset[str]) -> OpenApiParameter:
    one = "|".join(sorted(names))
    return query(
        "fields",
        f"Only these, with commas between them; all without it: {', '.join(sorted(names))}.",
        {"type": "string", "maxLength": FIELDS_MAX, "pattern": f"^({one})(,({one}))*$"},
    )


FIELDS: Final = _fields(WHOLE)
VARIATION: Final = query(
    "variation",
    "The running variation of that name in the place of the post; the post itself where none runs.",
    {"type": "string", "pattern": VARIATION_PATTERN},
)
LIST_FIELDS: Final = _fields(LISTABLE)


class SparseListedLivePostSchema(ListedLivePostSchema):
    """A published post in a list. Everything but `media` is there unless `fields` asks for less, or for that too."""

    media = serializers.DictField(child=DeliveredMediaSchema())

    def get_fields(self) -> dict[str, Any]:
        return _optional(super().get_fields())


class SparseLivePostSchema(DeliveredPostSchema):
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
