"""Which files a document uses, and where: read from its media fields, its rich text and its links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from uuid import UUID

from content.changes import Changes
from content.definitions import ModuleProps, modules, post_types, props_of
from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.richtext.nodes import attributes, children, kind
from core.json import Json
from media.addresses import name_of
from media.services.references import Token

Uses = dict[str, frozenset[Token]]
_DEEPEST = 8


def places_in(document: PostDocument, changes: Changes | None = None) -> Uses:
    """The files that a document uses, by path (contract §6); with `changes` only at the paths that they name."""
    found = {path: frozenset(tokens) for path, tokens in _places(document)}
    if changes is not None:
        paths = set(changes.paths)
        found = {path: used for path, used in found.items() if _is_of(path, paths)}
    return {path: used for path, used in found.items() if used}


def places_in_global(type_: str, props: Mapping[str, Json]) -> Uses:
    """The files that a global module uses, by the path of the prop."""
    definition = modules.get(type_)
    if definition is None:
        return {}
    found = {
        f"props.{name}": frozenset(tokens) for name, tokens in _by_name(definition.Props, props)
    }
    return {path: used for path, used in found.items() if used}


def shown_in(props: type[ModuleProps], values: object) -> Iterator[Token]:
    """The files that a page shows for these props; not those that it merely links to."""
    for _, tokens in _by_name(props, values, with_links=False):
        yield from tokens


def _is_of(path: str, paths: set[str]) -> bool:
    # Of a module that comes, or comes instead of another, every part does.
    return path in paths or (path.startswith("modules.") and ".".join(path.split(".")[:2]) in paths)


def _places(document: PostDocument) -> Iterator[tuple[str, Iterator[Token]]]:
    yield "post.featuredMediaId", _id(document.fields.get("featuredMediaId"))
    post_type = post_types.get(document.type)
    if post_type is not None:
        for name, tokens in _by_name(post_type.CustomFields, document.custom_fields):
            yield f"post.{CUSTOM_PREFIX}{name}", tokens
    for module in document.modules:
        yield from _places_of_module(module)


def _places_of_module(module: ModuleDocument) -> Iterator[tuple[str, Iterator[Token]]]:
    definition = modules.get(module.type)
    if definition is None:
        return
    for part, values in (("props", module.props), ("overrides", module.overrides)):
        for name, tokens in _by_name(definition.Props, values):
            yield f"modules.{module.id}.{part}.{name}", tokens


def _by_name(
    props: type[ModuleProps], values: object, *, depth: int = 0, with_links: bool = True
) -> Iterator[tuple[str, Iterator[Token]]]:
    """The files in each field of props, however deep, whatever else is stored there."""
    if not isinstance(values, Mapping) or depth > _DEEPEST:
        return
    for prop in props_of(props).values():
        value = values.get(prop.name)
        if prop.nested is not None:
            yield prop.name, _nested(prop.nested, value, depth, with_links)
        elif prop.kind == "media":
            yield prop.name, _id(value)
        elif prop.kind == "richtext":
            yield prop.name, _of_richtext(value, with_links)
        elif prop.kind in ("link", "url") and with_links:
            yield prop.name, _file(value)


def _nested(
    props: type[ModuleProps], value: object, depth: int, with_links: bool
) -> Iterator[Token]:
    for item in value if isinstance(value, list) else [value]:
        for _, tokens in _by_name(props, item, depth=depth + 1, with_links=with_links):
            yield from tokens


def _of_richtext(document: object, with_links: bool) -> Iterator[Token]:
    waiting = [document] if isinstance(document, Mapping) else []
    while waiting:
        node = waiting.pop()
        if kind(node) == "image":
            yield from _file(attributes(node).get("src"))
        marks = node.get("marks")
        for mark in marks if with_links and isinstance(marks, list) else []:
            if isinstance(mark, Mapping) and kind(mark) == "link":
                yield from _file(attributes(mark).get("href"))
        waiting.extend(children(node))


def _id(value: object) -> Iterator[Token]:
    try:
        if isinstance(value, str):
            yield UUID(value)
    except ValueError:
        return


def _file(value: object) -> Iterator[Token]:
    name = name_of(value) if isinstance(value, str) else None
    if name is not None:
        yield name
