"""Texts that exist only in content definitions, for the admin's translation catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from content.document.post_fields import POST_FIELDS
from proofroom.definitions import (
    ModuleProps,
    module_groups,
    modules,
    post_types,
    props_of,
    taxonomies,
)

_REASONS: Final = (
    *("before", "created", "edited", "approved"),
    *("reverted", "promoted", "find-replace", "imported"),
)
"""Reasons of revisions, as shown in lists."""


def words() -> Iterator[str]:
    """Yield labels, descriptions and help texts of all definitions."""
    for module in modules:
        yield from (module.label, module.description)
        yield from _words_of(module.Props)
    for post_type in post_types:
        yield from (post_type.label, post_type.label_plural, post_type.description)
        yield from _words_of(post_type.CustomFields)
    for field in POST_FIELDS.values():
        yield from (field.label, field.help)
    for definition in (*module_groups, *taxonomies):
        yield from (definition.label, definition.description)
    yield from _REASONS


def _words_of(props: type[ModuleProps]) -> Iterator[str]:
    infos = {info.alias or name: info for name, info in props.model_fields.items()}
    for name, prop in props_of(props).items():
        yield from (prop.label, infos[name].description or "")
        for choice in _choices(infos[name].annotation):
            yield choice.replace("-", " ").capitalize()  # as shown in forms
        if prop.nested is not None:
            yield prop.nested.add_label
            yield from _words_of(prop.nested)


def _choices(annotation: object) -> Iterator[str]:
    """Yield the values of a `Literal`, at any depth, which selects show."""
    for inner in get_args(annotation):
        if isinstance(inner, str):
            yield inner
        else:
            yield from _choices(inner)
