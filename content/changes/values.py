"""Changes and the values they speak of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from content.document import ModuleDocument, PostDocument
from proofroom.core.json import Json

Kind = Literal["changed", "added", "removed", "replaced", "moved"]
TERMS_PATH: Final = "post.taxonomyTermIds"


class _Absent:
    """A prop or module that is not there, which is not the same as null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
Value: TypeAlias = "Json | ModuleDocument | _Absent"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference at one path.

    `before` and `after` are the field's or prop's values; whole modules where one was added, removed or replaced;
    positions (0-based) where one moved; `ABSENT` where there is nothing. `behind` is the module that an added
    or moved one follows, empty for the first.
    """

    path: str
    kind: Kind
    before: Value
    after: Value
    behind: str = ""

    @property
    def module_id(self) -> str | None:
        return self.path.split(".", 2)[1] if self.path.startswith("modules.") else None


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes with the order of modules that they lead to."""

    items: tuple[Change, ...]
    order: tuple[str, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.items)

    def only(self, paths: Collection[str]) -> Changes:
        """Those of these paths, still placing modules as the whole set would."""
        return replace(self, items=tuple(item for item in self.items if item.path in paths))


def value_at(document: PostDocument, path: str) -> Value:
    """The value at a path of a document; `ABSENT` where there is none."""
    if path == TERMS_PATH:
        return document.taxonomy_term_ids
    if path.startswith("post."):
        return document.fields.get(path.removeprefix("post."), ABSENT)
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    if module is None or not rest:
        return ABSENT if module is None else module
    if rest == ["position"]:
        return document.order.index(module_id)
    return part_of(module, rest[0]).get(rest[1], ABSENT)


def part_of(module: ModuleDocument, part: str) -> Mapping[str, Json]:
    return module.props if part == "props" else module.overrides


def same(one: Value, other: Value) -> bool:
    """Equality as JSON sees it (true is not 1, 1 is 1.0), and of whole modules."""
    if one is other:
        return True
    if isinstance(one, ModuleDocument) and isinstance(other, ModuleDocument):
        return (
            one.identity == other.identity
            and same(one.props, other.props)
            and same(one.overrides, other.overrides)
        )
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
