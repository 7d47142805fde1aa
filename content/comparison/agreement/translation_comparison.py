"""The comparison of a translation with its source. Mismatches have paths of the translation. Pure: no queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final, Literal, TypeVar, cast

from content.comparison.agreement.figures import find_figures
from content.comparison.agreement.text_agreement import (
    addresses_in,
    compare_links,
    compare_texts,
)
from content.comparison.richtext_comparison import role_of
from content.document.changes import ABSENT, Value, value_at
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from content.store.duplicate import pair_modules
from proofroom.core.json import Json
from proofroom.definitions import modules, post_types, props_of
from proofroom.definitions.fields import FieldType, ModuleProps
from proofroom.definitions.props import Prop
from proofroom.definitions.richtext.nodes import (
    MAX_DEPTH,
    Node,
    children,
    gathered,
    kind,
    runs,
)

MismatchKind = Literal[
    "module", "text", "headings", "paragraphs", "list-items", "tables", "rows", "quotes", "code-blocks", "lines",
    "items", "link", "images", "number", "date", "price", "unit", "answer", "negation", "name", "placeholder", "code",
    "setting", "length", "language",
]  # fmt: skip
COUNTS: Final[Mapping[str, MismatchKind]] = {
    "heading": "headings", "paragraph": "paragraphs", "listItem": "list-items", "table": "tables", "tableRow": "rows",
    "blockquote": "quotes", "codeBlock": "code-blocks",
}  # fmt: skip
COUNTED: Final[frozenset[MismatchKind]] = frozenset({*COUNTS.values(), "lines", "items", "images"})
"""Kinds of mismatches whose sides are counts."""
_LEAVES: Final = frozenset({"heading", "paragraph", "codeBlock"})
_SETTINGS: Final[Mapping[str, MismatchKind]] = {
    "number": "number", "date": "date", "boolean": "setting", "select": "setting", "multiselect": "setting",
}  # fmt: skip
_MAX_ALIGNED: Final = 60_000
"""Maximum number of pairs of blocks to compare. Above it blocks are paired in order."""
_MAX_FOUND: Final = 100
"""Maximum number of mismatches of one value. A completely different text would have too many."""
_MAX_WEIGHED: Final = 1_000
_SHOWN: Final = 200
_NO_SHARED_PROPS: Final[Mapping[str, Mapping[str, Json]]] = {}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SourceMismatch:
    """A mismatch between a translation and its source.

    `path`: path in the translation. `source` and `target`: content of each side, empty if it is missing, counts for
    counted kinds. `place`: place in the value, for `difference_text.role_text`.
    """

    path: str
    kind: MismatchKind
    source: str
    target: str
    place: str = ""


def compare_translation(
    source: PostDocument,
    target: PostDocument,
    copies: Mapping[str, str | None] | None = None,
    shared: Mapping[str, Mapping[str, Json]] = _NO_SHARED_PROPS,
) -> tuple[SourceMismatch, ...]:
    """Return the mismatches between a translation and its source.

    `copies`: the translation's module id by source module id, None for an omitted module. Without it, modules are
    paired by type and order. `shared`: props of global modules by instance id.
    """
    found: list[SourceMismatch] = []
    props: dict[str, Prop] = {}
    for name, declared in POST_FIELDS.items():
        if declared.translatable:
            prop = Prop(name, declared.label, cast("FieldType", declared.field_type), True, None)
            props[f"post.{name}"] = prop
    definition = post_types.get(target.type)
    custom = props_of(definition.CustomFields) if definition else {}
    props |= {f"post.{CUSTOM_PREFIX}{prop.name}": prop for prop in custom.values()}
    for path, prop in props.items():
        before, after = value_at(source, path), value_at(target, path)
        found += _compare_value(path, prop, before, after, source.locale, target.locale)
    pairs = pair_modules(source, target) if copies is None else copies
    own = {module.id: module for module in target.modules}
    for module in source.modules:
        copy_id = pairs.get(module.id)
        if module.type not in modules or (copy_id is None and copies is not None):
            continue  # omitted in the translation, or not added yet
        copy = own.get(copy_id or "")
        if copy is None:
            path = f"modules.{copy_id}" if copy_id else "modules"
            found.append(SourceMismatch(path, "module", _label_of(module), ""))
        elif copy.type == module.type:
            found += _compare_modules(module, copy, source.locale, target.locale, shared)
    known = {copy_id for copy_id in pairs.values() if copy_id}
    for module in target.modules:
        if module.id not in known and module.type in modules:
            found.append(SourceMismatch(f"modules.{module.id}", "module", "", _label_of(module)))
    return tuple(found)


def _label_of(module: ModuleDocument) -> str:
    definition = modules.get(module.type)
    return definition.label if definition else module.type


def _compare_modules(
    source: ModuleDocument,
    target: ModuleDocument,
    source_locale: str,
    target_locale: str,
    shared: Mapping[str, Mapping[str, Json]],
) -> Iterator[SourceMismatch]:
    """Yield the mismatches of the props. Of a shared module only overrides are compared."""
    before = {**shared.get(source.instance_id, {}), **source.props, **source.overrides}
    part = "overrides" if target.scope == "global" else "props"
    after = target.overrides if target.scope == "global" else {**target.props, **target.overrides}
    definition = modules.get(target.type)
    for prop in props_of(definition.Props).values() if definition else ():
        if target.scope == "global" and prop.name not in after:
            continue
        yield from _compare_value(
            f"modules.{target.id}.{part}.{prop.name}",
            prop,
            before.get(prop.name),
            after.get(prop.name),
            source_locale,
            target_locale,
        )


def _compare_value(
    path: str, prop: Prop, before: Value, after: Value, source_locale: str, target_locale: str
) -> Iterator[SourceMismatch]:
    comparer = _Comparer(path, source_locale, target_locale)
    comparer.compare(prop, before, after, ())
    yield from comparer.found[:_MAX_FOUND]


@dataclass(slots=True)
class _Comparer:
    """The comparer of a value with its translation."""

    path: str
    source_locale: str
    target_locale: str
    found: list[SourceMismatch] = field(default_factory=list)

    def add(self, kind_: str, source: str, target: str, place: tuple[str, ...]) -> None:
        self.found.append(
            SourceMismatch(
                self.path,
                cast("MismatchKind", kind_),
                source[:_SHOWN],
                target[:_SHOWN],
                " › ".join(part for part in place if part),
            )
        )

    def compare(self, prop: Prop, before: Value, after: Value, place: tuple[str, ...]) -> None:
        if prop.nested is not None:
            self.nested(prop, before, after, place)
        elif prop.kind in ("text", "textarea"):
            self.text(_string(before), _string(after), place, is_long=prop.kind == "textarea")
        elif prop.kind == "richtext":
            self.rich_text(before, after, place)
        elif prop.kind in ("link", "url"):
            hrefs = [[text] if (text := _string(side)) else [] for side in (before, after)]
            self.links(hrefs[0], hrefs[1], place)
        elif prop.kind == "media":
            counts = [_count(value) for value in (before, after)]
            # A translation may have more images than its source.
            if counts[0] > counts[1]:
                self.add("images", str(counts[0]), str(counts[1]), place)
        elif prop.kind in _SETTINGS and not prop.translatable and after != before:
            old, new = ("" if side in (None, ABSENT) else str(side) for side in (before, after))
            if old:
                self.add(_SETTINGS[prop.kind], old, new, place)

    def nested(self, prop: Prop, before: Value, after: Value, place: tuple[str, ...]) -> None:
        shape = prop.nested
        if shape is None:
            return
        if prop.kind == "object":
            if isinstance(before, Mapping):
                self.record(shape, before, after if isinstance(after, Mapping) else {}, place)
            return
        old, new = _objects(before), _objects(after)
        if len(old) != len(new):
            self.add("items", str(len(old)), str(len(new)), place)
        for one, other in self.align(old, new, lambda item: _text_of(shape, item)):
            if one is not None and other is not None:
                self.record(shape, old[one], new[other], (*place, f"Item {other + 1}"))

    def record(
        self,
        shape: type[ModuleProps],
        before: Mapping[str, Json],
        after: Mapping[str, Json],
        place: tuple[str, ...],
    ) -> None:
        for prop in props_of(shape).values():
            self.compare(prop, before.get(prop.name), after.get(prop.name), (*place, prop.label))

    def text(
        self, before: str, after: str, place: tuple[str, ...], *, is_long: bool = False
    ) -> None:
        if not before.strip():
            return
        if not after.strip():
            if any(sign.isalnum() for sign in before):
                self.add("text", before.strip(), "", place)
            return
        old, new = ([line for line in side.split("\n") if line.strip()] for side in (before, after))
        if is_long and len(old) > 1 and len(old) == len(new):
            for one, other in zip(old, new, strict=True):
                self.texts(one, other, place)
        else:
            if is_long and len(old) > 1:
                self.add("lines", str(len(old)), str(len(new)), place)
            self.texts(before, after, place)
        self.links(addresses_in(before), addresses_in(after), place)

    def texts(self, before: str, after: str, place: tuple[str, ...]) -> None:
        for one in compare_texts(before, after, self.source_locale, self.target_locale):
            self.add(one.kind, one.source, one.target, place)

    def links(self, before: Sequence[str], after: Sequence[str], place: tuple[str, ...]) -> None:
        for one in compare_links(before, after):
            self.add(one.kind, one.source, one.target, place)

    def rich_text(self, before: Value, after: Value, place: tuple[str, ...]) -> None:
        old, new = (_read_blocks(value) for value in (before, after))
        if not old.blocks:
            return
        # One mismatch for a missing translation, instead of one for each block.
        if not any(block.text.strip() or block.images for block in new.blocks):
            texts = (block.text.strip() for block in old.blocks if block.text.strip())
            if first := next(texts, ""):
                self.add("text", first, "", place)
                return
        for name, kind_ in COUNTS.items():
            if old.counts[name] != new.counts[name]:
                self.add(kind_, str(old.counts[name]), str(new.counts[name]), place)
        images = [sum(block.images for block in side.blocks) for side in (old, new)]
        if images[0] != images[1]:
            self.add("images", str(images[0]), str(images[1]), place)
        gone: list[_Block] = []
        come: list[_Block] = []
        for a, b in self.align(old.blocks, new.blocks, lambda block: block.text, _same_kind):
            if a is not None and b is not None:
                self.blocks(old.blocks[a], new.blocks[b], place)
            elif a is not None:
                gone.append(old.blocks[a])
            elif b is not None:
                come.append(new.blocks[b])
        # Unpaired blocks may share links that only moved.
        lost, new_links = ([href for one in side for href in one.links] for side in (gone, come))
        self.links(lost, new_links, place)

    def blocks(self, before: _Block, after: _Block, place: tuple[str, ...]) -> None:
        where = (*place, after.role)
        if before.name == "codeBlock":
            return
        if before.text.strip() and not after.text.strip():
            self.add("text", before.text.strip(), "", where)
            return
        self.texts(before.text, after.text, where)
        self.links(before.links, after.links, where)
        left, right = Counter(before.code), Counter(after.code)
        gone, come = list((left - right).elements()), list((right - left).elements())
        for at in range(max(len(gone), len(come))):
            one, other = (side[at] if at < len(side) else "" for side in (gone, come))
            self.add("code", one, other, where)

    def align(
        self,
        old: Sequence[T],
        new: Sequence[T],
        text_of: Callable[[T], str],
        may_pair: Callable[[T, T], bool] = lambda one, other: True,
    ) -> list[tuple[int | None, int | None]]:
        """Pair corresponding items in order. None if the other side has no counterpart."""
        if len(old) == len(new) and all(map(may_pair, old, new)):
            return [(at, at) for at in range(len(old))]
        if len(old) * len(new) > _MAX_ALIGNED:
            pairs: list[tuple[int | None, int | None]] = [
                (at, at) for at in range(min(len(old), len(new)))
            ]
            return [
                (a, b)
                for a, b in pairs
                if a is not None and b is not None and may_pair(old[a], new[b])
            ]
        left = [_TextFeatures(text_of(item), self.source_locale) for item in old]
        right = [_TextFeatures(text_of(item), self.target_locale) for item in new]
        likeness = [
            [
                one.likeness(other) if may_pair(old[a], new[b]) else -1.0
                for b, other in enumerate(right)
            ]
            for a, one in enumerate(left)
        ]
        # Dynamic programming for the order-preserving pairing with the highest total likeness.
        best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
        for a in range(len(old) - 1, -1, -1):
            for b in range(len(new) - 1, -1, -1):
                pair = best[a + 1][b + 1] + likeness[a][b]
                best[a][b] = max(best[a + 1][b], best[a][b + 1], pair)
        found: list[tuple[int | None, int | None]] = []
        a = b = 0
        while a < len(old) or b < len(new):
            is_left = a < len(old) and b < len(new)
            if is_left and best[a][b] == best[a + 1][b + 1] + likeness[a][b]:
                found.append((a, b))
                a, b = a + 1, b + 1
            elif b == len(new) or (a < len(old) and best[a][b] == best[a + 1][b]):
                found.append((a, None))
                a += 1
            else:
                found.append((None, b))
                b += 1
        return found


class _TextFeatures:
    """The features of a text for comparing it with a text of another language."""

    __slots__ = ("figures", "length", "stems")

    def __init__(self, text: str, locale: str) -> None:
        read = text[:_MAX_WEIGHED]
        self.figures = {
            atom for one in find_figures(read, locale) if not one.is_soft for atom in one.atoms()
        }
        # Names and loan words share their first letters across languages.
        self.stems = {word[:5].casefold() for word in read.split() if len(word) > 4}
        self.length = log(len(text) + 10)

    def likeness(self, other: _TextFeatures) -> float:
        """Return how likely one text translates the other: low for any pair, higher for shared figures and words."""
        matched = len(self.figures & other.figures)
        wrong = len(self.figures | other.figures) - matched
        words = min(3, len(self.stems & other.stems))
        length = min(1.5, abs(self.length - other.length))
        return max(0.05, 1 + 2 * matched - 0.5 * wrong + words - length)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block with text. `text` excludes inline code."""

    name: str
    role: str
    text: str
    links: tuple[str, ...]
    code: tuple[str, ...]
    images: int


@dataclass(slots=True)
class _Blocks:
    blocks: list[_Block] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def _read_blocks(value: Value) -> _Blocks:
    found = _Blocks()
    if isinstance(value, Mapping):
        _read_into(found, value, "", 0)
    return found


def _read_into(found: _Blocks, node: Node, role: str, depth: int) -> None:
    for index, child in enumerate(children(node)):
        name = kind(child)
        own = role_of(role, node, child, index)
        if name not in _LEAVES and depth < MAX_DEPTH and name in (
            "bulletList", "orderedList", "listItem", "blockquote", "table", "tableRow", "tableCell", "tableHeader",
        ):  # fmt: skip
            found.counts[name] += 1
            _read_into(found, child, own, depth + 1)
            continue
        if name == "horizontalRule":
            continue
        block = _read_block(child, name, own)
        is_empty = not (block.text.strip() or block.images or block.code)
        if is_empty:
            continue
        # Paragraphs inside list items and cells are counted with their container.
        if name != "paragraph" or kind(node) in ("doc", "blockquote"):
            found.counts[name] += 1
        found.blocks.append(block)


def _read_block(node: Node, name: str, role: str) -> _Block:
    if name not in _LEAVES:
        return _Block(name, role, gathered(node), (), (), 0)
    texts: list[str] = []
    links: list[str] = []
    code: list[str] = []
    images = 0
    last_link = ""
    for run in runs(children(node)):
        href = next((mark.href for mark in run.marks if mark.kind == "link"), "")
        # Neighbouring runs with the same link are one link.
        if href and href != last_link:
            links.append(href)
        last_link = href
        if run.kind == "image":
            images += 1
            texts.append(f" {run.caption} " if run.caption else "")
        elif run.kind == "hardBreak":
            texts.append("\n")
        elif run.is_code:
            code.append(run.text)
            texts.append(" ")
        else:
            texts.append(run.text)
    text = "".join(texts)
    return _Block(name, role, text, (*links, *addresses_in(text)), tuple(code), images)


def _same_kind(one: _Block, other: _Block) -> bool:
    # Headings and code keep their kind. Other blocks may change it, for example from list item to paragraph.
    return (one.name == "codeBlock") == (other.name == "codeBlock") and (one.name == "heading") == (
        other.name == "heading"
    )


def _text_of(shape: type[ModuleProps], item: Mapping[str, Json]) -> str:
    """Return the words of an item, for pairing."""
    found: list[str] = []
    for prop in props_of(shape).values():
        value = item.get(prop.name)
        if isinstance(value, str) and prop.kind in ("text", "textarea", "link"):
            found.append(value)
        elif isinstance(value, Mapping) and prop.kind == "richtext":
            found.append(gathered(value))
    return " ".join(found)


def _objects(value: Value) -> list[Mapping[str, Json]]:
    items = value if isinstance(value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]


def _string(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Value) -> int:
    if isinstance(value, list | tuple):
        return len(value)
    return int(bool(value) and value is not ABSENT)
