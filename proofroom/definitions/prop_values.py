"""The values in props with the types of their fields, however deep, whatever else is stored there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from proofroom.definitions.fields import FieldType, ModuleProps
from proofroom.definitions.props_schema import props_of
from proofroom.definitions.richtext.text import to_text

_READABLE = frozenset({"text", "textarea", "richtext"})
_MAX_DEPTH_OF_TEXT = 12


def words_of(props: type[ModuleProps] | None, values: object) -> Iterator[str]:
    """Every text that a reader sees. Without a class, every string."""
    if props is None or not isinstance(values, Mapping):
        yield from _any_text(values)
        return
    known = props_of(props)
    for name, value in values.items():
        prop = known.get(name)
        if prop is None or prop.kind in _READABLE:
            yield from _any_text(value)
        elif prop.nested is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from words_of(prop.nested, item)


def _any_text(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif depth > _MAX_DEPTH_OF_TEXT:
        return
    elif isinstance(value, Mapping) and value.get("type") == "doc":
        if text := to_text(dict(value)):
            yield text
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _any_text(item, depth + 1)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _any_text(item, depth + 1)


_DEEPEST: Final = 8


def values_in(
    props: type[ModuleProps], values: object, depth: int = 0
) -> Iterator[tuple[str, FieldType, object]]:
    """Each value: the name of the prop that it stands in or under, the type of its own field, the value.

    Of a list each item. What is stored can be older than the definition: what does not fit is passed over.
    """
    if not isinstance(values, Mapping) or depth > _DEEPEST:
        return
    for prop in props_of(props).values():
        value = values.get(prop.name)
        for item in value if isinstance(value, list) else [value]:
            if prop.nested is None:
                yield prop.name, prop.kind, item
                continue
            for _, kind, inner in values_in(prop.nested, item, depth + 1):
                yield prop.name, kind, inner
