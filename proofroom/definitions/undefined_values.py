"""Stored values that no definition has any more: kept aside while the others are checked, and put back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.props import props_of


def undefined_names(shape: type[ModuleProps], values: Mapping[str, Json]) -> Iterator[str]:
    """The paths of the values that the class does not have, also in nested objects: `old`, `items.0.old`."""
    known = props_of(shape)
    for name, value in values.items():
        prop = known.get(name)
        if prop is None:
            yield name
        elif prop.nested is not None and isinstance(value, list):
            for number, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield from (
                        f"{name}.{number}.{one}" for one in undefined_names(prop.nested, item)
                    )
        elif prop.nested is not None and isinstance(value, Mapping):
            yield from (f"{name}.{one}" for one in undefined_names(prop.nested, value))


def without_undefined(shape: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
    """The values without those that the class does not have."""
    known = props_of(shape)
    kept: JsonObject = {}
    for name, value in values.items():
        prop = known.get(name)
        if prop is None:
            continue
        if prop.nested is not None and isinstance(value, list):
            kept[name] = [
                without_undefined(prop.nested, item) if isinstance(item, Mapping) else item
                for item in value
            ]
        elif prop.nested is not None and isinstance(value, Mapping):
            kept[name] = without_undefined(prop.nested, value)
        else:
            kept[name] = value
    return kept


def with_undefined(
    shape: type[ModuleProps], cleaned: Mapping[str, Json], values: Mapping[str, Json]
) -> JsonObject:
    """The cleaned values, and those of `values` that the class does not have, where they were."""
    known = props_of(shape)
    found = dict(cleaned)
    for name, value in values.items():
        prop = known.get(name)
        now = found.get(name)
        if prop is None:
            found[name] = value
        elif prop.nested is None:
            continue
        elif isinstance(value, list) and isinstance(now, list) and len(value) == len(now):
            found[name] = [
                with_undefined(prop.nested, item, before)
                if isinstance(item, Mapping) and isinstance(before, Mapping)
                else item
                for item, before in zip(now, value, strict=True)
            ]
        elif isinstance(value, Mapping) and isinstance(now, Mapping):
            found[name] = with_undefined(prop.nested, now, value)
    return found
