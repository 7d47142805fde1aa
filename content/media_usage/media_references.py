"""Which files a document uses, and where: read from its media fields, its rich text and its links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from uuid import UUID

from content.changes import Changes
from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.post_fields import MEDIA_FIELDS
from media.file_addresses import storage_name
from media.services.references import Token
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, post_types
from proofroom.definitions.prop_values import values_in
from proofroom.definitions.richtext.nodes import attributes, children, kind

Uses = dict[str, frozenset[Token]]


def collect_references(document: PostDocument, changes: Changes | None = None) -> Uses:
    """The files that a document uses, by path (contract §6); with `changes` only at the paths that they name."""
    found = dict(_places(document))
    if changes is not None:
        paths = set(changes.paths)
        found = {path: used for path, used in found.items() if _is_of(path, paths)}
    return {path: used for path, used in found.items() if used}


def collect_global_references(type_: str, props: Mapping[str, Json]) -> Uses:
    """The files that a global module uses, by the path of the prop."""
    definition = modules.get(type_)
    if definition is None:
        return {}
    found = _by_name(definition.Props, props)
    return {f"props.{name}": used for name, used in found.items() if used}


def media_shown_in(props: type[ModuleProps], values: object) -> Iterator[Token]:
    """The files that a page shows for these props; not those that it merely links to."""
    for _, kind_, value in values_in(props, values):
        yield from _tokens(kind_, value, with_links=False)


def _is_of(path: str, paths: set[str]) -> bool:
    # Of a module that comes, or comes instead of another, every part does.
    return path in paths or (path.startswith("modules.") and ".".join(path.split(".")[:2]) in paths)


def _places(document: PostDocument) -> Iterator[tuple[str, frozenset[Token]]]:
    for name in MEDIA_FIELDS:
        yield f"post.{name}", frozenset(_id(document.fields.get(name)))
    post_type = post_types.get(document.type)
    if post_type is not None:
        for name, tokens in _by_name(post_type.CustomFields, document.custom_fields).items():
            yield f"post.{CUSTOM_PREFIX}{name}", tokens
    for module in document.modules:
        yield from _places_of_module(module)


def _places_of_module(module: ModuleDocument) -> Iterator[tuple[str, frozenset[Token]]]:
    definition = modules.get(module.type)
    if definition is None:
        return
    for part, values in (("props", module.props), ("overrides", module.overrides)):
        for name, tokens in _by_name(definition.Props, values).items():
            yield f"modules.{module.id}.{part}.{name}", tokens


def _by_name(props: type[ModuleProps], values: object) -> dict[str, frozenset[Token]]:
    """The files in each prop."""
    found: dict[str, set[Token]] = {}
    for name, kind_, value in values_in(props, values):
        found.setdefault(name, set()).update(_tokens(kind_, value))
    return {name: frozenset(tokens) for name, tokens in found.items()}


def _tokens(kind_: str, value: object, *, with_links: bool = True) -> Iterator[Token]:
    if kind_ == "media":
        yield from _id(value)
    elif kind_ == "richtext":
        waiting = [value] if isinstance(value, Mapping) else []
        while waiting:
            node = waiting.pop()
            if kind(node) == "image":
                yield from _file(attributes(node).get("src"))
            marks = node.get("marks")
            for mark in marks if with_links and isinstance(marks, list) else []:
                if isinstance(mark, Mapping) and kind(mark) == "link":
                    yield from _file(attributes(mark).get("href"))
            waiting.extend(children(node))
    elif kind_ in ("link", "url") and with_links:
        yield from _file(value)


def _id(value: object) -> Iterator[Token]:
    try:
        if isinstance(value, str):
            yield UUID(value)
    except ValueError:
        return


def _file(value: object) -> Iterator[Token]:
    name = storage_name(value) if isinstance(value, str) else None
    if name is not None:
        yield name
