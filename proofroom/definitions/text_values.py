"""The readable words in stored props, whatever became of their definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofroom.definitions.fields import ModuleProps
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
