"""The texts of a document that translators write, each with the id of its unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from content.document.changes import ABSENT, Value
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.labels import field_label, module_names
from content.document.post_fields import POST_FIELDS
from content.store.duplicate import COPIED_FIELDS
from content.store.translation_status import is_translated_text
from proofroom.core.i18n import in_words
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, find_post_type, props_of
from proofroom.definitions import modules as module_types

Place = tuple[str | int, ...]
_KINDS: Final = frozenset({"text", "textarea", "richtext"})
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class TextValue:
    """A text at a place inside the value of a path; the value itself if the place is empty.

    `path` is a path of changes, such as `modules.<id>.props.items`. `limit`: maximum number of characters; 0 if there
    is none. `is_rich`: a document of rich text.
    """

    path: str
    place: Place
    value: Json
    label: str
    limit: int = 0
    is_rich: bool = False

    @property
    def unit_id(self) -> str:
        return ".".join((self.path, *map(str, self.place)))


def texts_of(document: PostDocument) -> dict[str, TextValue]:
    """Return the translated texts by unit id, in reading order. Empty texts are omitted."""
    found = [*_texts_of_post(document), *_texts_of_modules(document)]
    return {text.unit_id: text for text in found}


def _texts_of_post(document: PostDocument) -> Iterator[TextValue]:
    for name in COPIED_FIELDS:
        value = document.fields.get(name)
        path = f"post.{name}"
        if isinstance(value, str) and value.strip() and is_translated_text(path, document):
            limit = POST_FIELDS[name].max_length or 0
            yield TextValue(path, (), value, field_label(document.type, name), limit)
    custom = find_post_type(document.type).CustomFields
    for name, value in document.custom_fields.items():
        path = f"post.{CUSTOM_PREFIX}{name}"
        label = field_label(document.type, f"{CUSTOM_PREFIX}{name}")
        yield from _texts_in(custom, name, value, path, label)


def _texts_of_modules(document: PostDocument) -> Iterator[TextValue]:
    names = module_names(document)
    for module in document.modules:
        definition = module_types.get(module.type)
        if definition is None:
            continue
        for part, values in (("props", module.props), ("overrides", module.overrides)):
            for name in props_of(definition.Props):
                if name in values:
                    path = f"modules.{module.id}.{part}.{name}"
                    yield from _texts_in(
                        definition.Props, name, values[name], path, names[module.id]
                    )


def _texts_in(
    props: type[ModuleProps],
    name: str,
    value: Json,
    path: str,
    above: str,
    place: Place = (),
) -> Iterator[TextValue]:
    """Yield the texts in the value of a prop, also of nested props."""
    prop = props_of(props).get(name)
    if prop is None or not prop.translatable or len(place) > _DEEPEST * 2:
        return
    label = f"{above} › {in_words(prop.label)}"
    if prop.nested is not None:
        items = value if isinstance(value, list) else [value]
        for number, item in enumerate(items):
            if not isinstance(item, Mapping):
                continue
            inside = (*place, number) if isinstance(value, list) else place
            numbered = f"{label} {number + 1}" if isinstance(value, list) else label
            for key in props_of(prop.nested):
                if key in item:
                    yield from _texts_in(
                        prop.nested, key, item[key], path, numbered, (*inside, key)
                    )
    elif prop.kind == "richtext" and isinstance(value, Mapping) and value.get("type") == "doc":
        yield TextValue(path, place, value, label, is_rich=True)
    elif prop.kind in _KINDS and isinstance(value, str) and value.strip():
        yield TextValue(path, place, value, label, _limit_of(props, name))


def _limit_of(props: type[ModuleProps], name: str) -> int:
    for field_name, info in props.model_fields.items():
        if (info.alias or field_name) == name:
            limits = (getattr(one, "max_length", None) for one in info.metadata)
            return next((one for one in limits if isinstance(one, int)), 0)
    return 0


def value_at_place(whole: Value, place: Place) -> Json:
    """Return the value at a place in the value of a path; None if there is none."""
    if whole is ABSENT or isinstance(whole, ModuleDocument):
        return None
    value = cast("Json", whole)
    for step in place:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def with_value_at(value: Json, place: Place, new: Json) -> Json:
    """Return a copy of a value with another value at a place that exists. Raises `LookupError`."""
    if not place:
        return new
    step, rest = place[0], place[1:]
    copy: Any
    if isinstance(step, int) and isinstance(value, list):
        copy = [*value]
    elif isinstance(step, str) and isinstance(value, Mapping) and step in value:
        copy = {**value}
    else:
        raise LookupError(step)
    copy[step] = with_value_at(copy[step], rest, new)
    return copy  # type: ignore[no-any-return]  # a list or dict of JSON
