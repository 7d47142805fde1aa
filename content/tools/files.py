"""Files that a model names in props: it easily makes up an id, and would not see that nothing shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from uuid import UUID

from content.definitions import ModuleProps, props_of
from core.errors import invalid
from core.json import Json
from media.queries import assets


def require_files(props: type[ModuleProps], values: Mapping[str, Json]) -> None:
    """Raise `RuleViolation` on the first media prop with an id of no file. What is no id at all the rules refuse."""
    named = dict(_named(props, values, "props"))
    known = assets(named.values())
    for path, id_ in named.items():
        if id_ not in known:
            message = f"No media has the id {id_}. search_media finds a file; leave {path} out to keep what is there."
            raise invalid(path, message, code="unknown_media")


def _named(
    props: type[ModuleProps], values: Mapping[str, Json], where: str
) -> Iterator[tuple[str, str]]:
    """The path of each media prop that holds an id, and the id."""
    known = props_of(props)
    for name, value in values.items():
        prop, path = known.get(name), f"{where}.{name}"
        if prop is None:
            continue
        if prop.kind == "media" and (id_ := _id(value)) is not None:
            yield path, id_
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            if prop.nested is not None and isinstance(item, Mapping):
                inner = f"{path}.{index}" if isinstance(value, list) else path
                yield from _named(prop.nested, item, inner)


def _id(value: Json) -> str | None:
    try:
        return str(UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None
