"""Titles of what the ids in changed values refer to: collected first, looked up at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args
from uuid import UUID

from django.utils.translation import gettext as _

from content.changes import ABSENT, TERMS_PATH, Change, Value
from content.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.post_fields import POST_FIELDS
from content.review.comparison import ValueShape
from content.review.differences import Difference, ReferenceKind, ShownReference
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, post_types, props_of

_KINDS: Final[tuple[ReferenceKind, ...]] = get_args(ReferenceKind)


@dataclass(frozen=True, slots=True)
class MediaView:
    """An asset as a thumbnail. `url` is empty for what is no image."""

    name: str
    url: str
    alt: str
    width: int | None = None
    height: int | None = None

    @property
    def described(self) -> str:
        """Its name, and the description that stands in for it."""
        alt = f"“{self.alt}”" if self.alt else _("no alternative text")
        return f"{self.name} · {alt}"

    @property
    def size(self) -> str:
        return f"{self.width} × {self.height}" if self.width and self.height else ""


@dataclass(frozen=True, slots=True)
class References:
    """The titles that were found, by id, with what tells apart those of one title."""

    media: Mapping[str, MediaView] = field(default_factory=dict)
    posts: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """The props of global modules, by the ids of their instances."""

    def title(self, reference: ShownReference) -> str:
        """What it refers to: its title, what tells it from others of that title, and the beginning of its id."""
        if reference.kind == "media":
            found = self.media.get(reference.id)
            title = found.described if found else None
        else:
            known = {"post-reference": self.posts, "taxonomy-reference": self.terms}
            title = known.get(reference.kind, self.forms).get(reference.id)
        if reference.kind == "form-reference":
            # The slug is what tells forms apart.
            return f"{title} · {reference.id}" if title else reference.id
        if title is None:
            return _("(missing) %(id)s") % {"id": reference.id}
        return f"{title} · {reference.id[:13]}"


@dataclass(slots=True)
class Wanted:
    """Ids to look up, by kind of field."""

    ids: dict[str, set[str]] = field(default_factory=lambda: {str(kind): set() for kind in _KINDS})

    def add(self, kind: str, value: object) -> None:
        items = value if isinstance(value, list | tuple) else [value]
        for item in items:
            if isinstance(item, str) and (_is_uuid(item) or (kind == "form-reference" and item)):
                self.ids[kind].add(item)

    def add_props(self, type_name: str, props: Mapping[str, Json]) -> None:
        """What the props of a module refer to."""
        definition = modules.get(type_name)
        if definition is not None:
            for kind, value in _in_props(definition.Props, props):
                self.add(kind, value)

    def add_differences(self, differences: Iterable[Difference]) -> None:
        for difference in differences:
            for side in (difference.before, difference.after):
                if isinstance(side, ShownReference):
                    self.add(side.kind, side.id)


def collect_references(changes: Iterable[Change], document: PostDocument) -> Wanted:
    """Every id that the changed values name, before and after."""
    wanted = Wanted()
    for change in changes:
        for value in (change.before, change.after):
            for kind, found in _references(change.path, value, document):
                wanted.add(kind, found)
    return wanted


def _references(path: str, value: Value, document: PostDocument) -> Iterator[tuple[str, object]]:
    if value is ABSENT:
        return
    if isinstance(value, ModuleDocument):
        definition = modules.get(value.type)
        if definition is not None:
            yield from _in_props(definition.Props, {**value.props, **value.overrides})
        return
    kind, nested = kind_at(path, document)
    if kind in _KINDS:
        yield kind, value
    elif nested is not None:
        for item in value if isinstance(value, list) else [value]:
            yield from _in_props(nested, item)


def _in_props(props: type[ModuleProps], values: object) -> Iterator[tuple[str, object]]:
    if not isinstance(values, Mapping):
        return
    for prop in props_of(props).values():
        value = values.get(prop.name)
        if prop.kind in _KINDS:
            yield prop.kind, value
        elif prop.nested is not None:
            items: Sequence[object] = value if isinstance(value, list) else [value]
            for item in items:
                yield from _in_props(prop.nested, item)


def kind_at(path: str, document: PostDocument) -> tuple[str, type[ModuleProps] | None]:
    """The field type of a path and the class of its nested objects; "json" where the definition is gone."""
    if path == TERMS_PATH:
        return "taxonomy-reference", None
    if path.startswith("post."):
        name = path.removeprefix("post.")
        if not name.startswith(CUSTOM_PREFIX):
            declared = POST_FIELDS.get(name)
            return declared.kind if declared else "text", None
        owner = post_types.get(document.type)
        return _kind_of(owner.CustomFields if owner else None, name.removeprefix(CUSTOM_PREFIX))
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    definition = modules.get(module.type) if module else None
    return _kind_of(definition.Props if definition else None, rest[-1] if rest else "")


def shape_at(path: str, document: PostDocument) -> ValueShape:
    """Return how the values of a path are compared."""
    declared = POST_FIELDS.get(path.removeprefix("post."))
    if path.startswith("post.") and declared is not None and declared.format:
        return ValueShape(declared.format)
    kind, nested = kind_at(path, document)
    if kind == "url" and path.startswith("modules."):
        module = document.module(path.split(".", 2)[1])
        kind = "embed" if module is not None and module.type == "embed" else kind
    return ValueShape(kind, nested)


def _kind_of(props: type[ModuleProps] | None, name: str) -> tuple[str, type[ModuleProps] | None]:
    prop = props_of(props).get(name) if props else None
    return (prop.kind, prop.nested) if prop else ("json", None)


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True
