"""The values in props with the types of their fields, however deep, whatever else is stored there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from proofroom.definitions import FieldType, ModuleProps, props_of

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
