"""The OpenAPI descriptions of declared post fields: answered, written, and as a document keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from rest_framework import serializers

from content.post_fields import PostField

Described: TypeAlias = "serializers.Field[Any, Any, Any, Any]"
S = TypeVar("S", bound=type[serializers.Serializer[object]])


def answered(fields: Iterable[PostField]) -> dict[str, Described]:
    """What the API answers of a post."""
    return {
        field.name: _described(
            field,
            {
                "allow_blank": not field.required and not field.format,
                "max_length": field.max_length,
            },
            allow_null=field.is_nullable,
        )
        for field in fields
    }


def written(fields: Iterable[PostField]) -> dict[str, Described]:
    """What a caller may write. Null empties a field that may be empty."""
    found = {}
    for field in fields:
        text: dict[str, Any] = {"max_length": field.max_length}
        if field.required:
            text["min_length"] = 1
        if field.format == "slug":
            text["help_text"] = "Lower-case-with-hyphens."
        optional = {} if field.required else {"allow_null": True}
        found[field.name] = _described(field, text, is_written=True, required=False, **optional)
    return found


def stored(fields: Iterable[PostField]) -> dict[str, Described]:
    """What a document keeps. One of earlier may lack any field."""
    return {
        field.name: _described(
            field, {"allow_blank": not field.required and not field.is_nullable}, allow_null=True
        )
        for field in fields
    }


def declare(fields: Mapping[str, Described], before: str) -> Callable[[S], S]:
    """Add these fields to a schema, before the named one."""

    def decorate(schema: S) -> S:
        own: dict[str, Described] = {}
        for name, field in schema._declared_fields.items():
            own |= fields if name == before else {}
            own[name] = field
        schema._declared_fields = own
        return schema

    return decorate


def _described(
    field: PostField, text: Mapping[str, Any], *, is_written: bool = False, **settings: Any
) -> Described:
    if field.kind in ("text", "textarea", "url"):
        return serializers.CharField(**settings, **text)
    if field.kind == "json":
        return serializers.DictField(**settings)
    if field.kind in ("media", "post-reference"):
        return serializers.UUIDField(**settings)
    if field.kind == "moment":
        return serializers.DateTimeField(**settings)
    if is_written:
        return serializers.IntegerField(min_value=-1_000_000, max_value=1_000_000, **settings)
    return serializers.IntegerField(**settings)
