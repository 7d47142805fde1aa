"""Stored values without a definition: removed before the others are validated, and restored afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.props import props_of


def undefined_names(shape: type[ModuleProps], values: Mapping[str, Json]) -> Iterator[str]:
    """Yield the paths of values that the class does not define, also in nested objects: `old`, `items.0.old`."""
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


def remove_undefined(shape: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
    """Return the values without the ones that the class does not define."""
    known = props_of(shape)
    defined: JsonObject = {}
    for name, value in values.items():
        prop = known.get(name)
        if prop is None:
            continue
        if prop.nested is not None and isinstance(value, list):
            defined[name] = [
                remove_undefined(prop.nested, item) if isinstance(item, Mapping) else item
                for item in value
            ]
        elif prop.nested is not None and isinstance(value, Mapping):
            defined[name] = remove_undefined(prop.nested, value)
        else:
            defined[name] = value
    return defined


def restore_undefined(
    shape: type[ModuleProps], cleaned: Mapping[str, Json], values: Mapping[str, Json]
) -> JsonObject:
    """Return the cleaned values, with the undefined ones of `values` in their place."""
    known = props_of(shape)
    found = dict(cleaned)
    for name, value in values.items():
        prop = known.get(name)
        new_value = found.get(name)
        if prop is None:
            found[name] = value
        elif prop.nested is None:
            continue
        # Items of lists have no ids. With another number of items it is unknown which is which, so nothing is
        # restored.
        elif (
            isinstance(value, list) and isinstance(new_value, list) and len(value) == len(new_value)
        ):
            found[name] = [
                restore_undefined(prop.nested, item, old_value)
                if isinstance(item, Mapping) and isinstance(old_value, Mapping)
                else item
                for item, old_value in zip(new_value, value, strict=True)
            ]
        elif isinstance(value, Mapping) and isinstance(new_value, Mapping):
            found[name] = restore_undefined(prop.nested, new_value, value)
    return found
