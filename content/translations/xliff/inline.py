"""Rich text and plain text as XLIFF segments, and back.

A text has one segment for each paragraph or heading. Marks are `<pc>`, images and line breaks `<ph>`. Their ids count
through the text, and on the way back only the ids count: addresses always come from the source, or from
the present translation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.nodes import (
    Node,
    TextMark,
    TextRun,
    attributes,
    children,
    kind,
    runs,
    steps,
)

XLIFF: Final = "urn:oasis:names:tc:xliff:document:2.0"
_TEXT_BLOCKS: Final = frozenset({"paragraph", "heading"})
_MAX_DEPTH: Final = 40
_WRAPPED: Final = re.compile(r"[ \t]*[\r\n]\s*")
_FORMATS: Final[Mapping[str, str]] = {"bold": "xlf:b", "italic": "xlf:i"}


_NONE: Final[Mapping[str, str]] = {}


class InlineError(ValueError):
    """Raised if the inline codes of a translation do not match its source."""


@dataclass(frozen=True, slots=True)
class InlineCode:
    """A mark, or a node without text, with its id in the unit. `data`: what it is in the original."""

    id: str
    value: JsonObject
    data: tuple[str, ...]
    is_pair: bool


@dataclass(slots=True)
class Segments:
    """The segments of a text: `sources` are elements `<source>`, `codes` its inline codes by id."""

    sources: list[Element] = field(default_factory=list)
    codes: dict[str, InlineCode] = field(default_factory=dict)
    alts: dict[str, str] = field(default_factory=dict)
    """Texts of images, each of which is a unit of its own: the alternative text by the id of the image's code, the
    caption by that id and `CAPTION`."""


CAPTION: Final = "-caption"


def tag(name: str) -> str:
    return f"{{{XLIFF}}}{name}"


def alt_unit_id(unit_id: str, code_id: str) -> str:
    """Return the id of the unit of an image's alternative text or caption."""
    return f"{unit_id}:alt-{code_id}"


def segments_of(value: Json, unit_id: str = "") -> Segments:
    """Return the segments of a text or of a document of rich text. `unit_id` is the id of its unit."""
    found = Segments()
    if isinstance(value, str):
        element = Element(tag("source"))
        element.text = storable(value)
        found.sources.append(element)
        return found
    for block in _text_blocks(value):
        writer = _SegmentWriter(found, unit_id)
        writer.write(children(block))
        found.sources.append(writer.root)
    return found


def _text_blocks(document: Json) -> Iterator[Node]:
    """Yield the paragraphs and headings with content, in reading order."""
    return (one for one in _blocks(document) if kind(one) in _TEXT_BLOCKS and children(one))


def _blocks(document: Json) -> Iterator[Node]:
    """Yield the paragraphs, headings and blocks of code, in reading order."""
    pending: list[Node] = [document] if isinstance(document, Mapping) else []
    while pending:
        node = pending.pop()
        if kind(node) in _TEXT_BLOCKS or kind(node) == "codeBlock":
            yield node
        else:
            pending.extend(reversed(children(node)))


class _SegmentWriter:
    """Writes the inline content of one block."""

    def __init__(self, found: Segments, unit_id: str) -> None:
        self.found, self.unit_id = found, unit_id
        self.root = Element(tag("source"))
        self.open: list[Element] = [self.root]

    def write(self, nodes: Sequence[Node]) -> None:
        raw = _raw_marks(nodes)
        for step in steps(runs(nodes)):
            for _mark in step.closes:
                self.open.pop()
            for mark in step.opens:
                self._begin(mark, raw)
            if step.run is not None:
                self._run(step.run)

    def _begin(self, mark: TextMark, raw: Mapping[tuple[str, str], JsonObject]) -> None:
        value = raw.get((mark.kind, mark.href)) or {"type": mark.kind}
        data = (
            (f'<a href="{mark.href}">', "</a>") if mark.kind == "link" else (mark.kind, mark.kind)
        )
        code = self._code(value, data, is_pair=True)
        element = SubElement(self.open[-1], tag("pc"), id=code.id)
        if mark.kind == "link":
            element.set("type", "link")
        else:
            element.set("type", "fmt")
            if mark.kind in _FORMATS:
                element.set("subType", _FORMATS[mark.kind])
        element.set("dataRefStart", f"d{code.id}s")
        element.set("dataRefEnd", f"d{code.id}e")
        self.open.append(element)

    def _run(self, run: TextRun) -> None:
        if run.kind == "text":
            _append_text(self.open[-1], storable(run.text))
            return
        if run.kind == "hardBreak":
            code = self._code({"type": "hardBreak"}, ("<br/>",), is_pair=False)
            attrs = {"type": "fmt", "subType": "xlf:lb", "equiv": "\n"}
        else:
            image: JsonObject = {"src": run.src, "alt": run.text, "title": run.title or None}
            layout = {"caption": run.caption, "align": run.align, "size": run.size}
            image |= {name: value for name, value in layout.items() if value}
            code = self._code(
                {"type": "image", "attrs": image}, (f'<img src="{run.src}"/>',), is_pair=False
            )
            attrs = {"type": "image", "disp": storable(run.text), "equiv": ""}
            texts = {code.id: run.text, code.id + CAPTION: run.caption}
            shown = {id_: text for id_, text in texts.items() if text.strip()}
            if shown:
                self.found.alts |= shown
                attrs["subFlows"] = " ".join(alt_unit_id(self.unit_id, id_) for id_ in shown)
        element = SubElement(self.open[-1], tag("ph"), {"id": code.id, **attrs})
        element.set("dataRef", f"d{code.id}")

    def _code(self, value: JsonObject, data: tuple[str, ...], *, is_pair: bool) -> InlineCode:
        code = InlineCode(str(len(self.found.codes) + 1), value, data, is_pair)
        self.found.codes[code.id] = code
        return code


def _raw_marks(nodes: Sequence[Node]) -> dict[tuple[str, str], JsonObject]:
    """Return the marks as they are stored, with all their attributes."""
    found: dict[tuple[str, str], JsonObject] = {}
    for node in nodes:
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else ():
            if isinstance(mark, dict):
                href = attributes(mark).get("href")
                place = (kind(mark), href if isinstance(href, str) else "")
                found.setdefault(place, mark)
    return found


def _append_text(element: Element, text: str) -> None:
    last = element[-1] if len(element) else None
    if last is None:
        element.text = (element.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def append_inline(element: Element, part: Element) -> None:
    """Append the content of a segment to an element."""
    _append_text(element, part.text or "")
    element.extend(part)


def storable(text: str) -> str:
    """Return the text without characters that XML cannot have."""
    if text.isprintable():
        return text
    return "".join(
        char
        for char in text
        if char in "\t\n\r" or (char >= " " and not "\ud800" <= char <= "\udfff")
    ).translate({0xFFFE: None, 0xFFFF: None})


def _local_name(element: Element) -> str:
    # The tag of comments is a function.
    name: object = element.tag
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def plain_of(element: Element) -> str:
    """Return a segment as text with the ids of its codes, to compare two segments."""
    parts = [element.text or ""]
    for child in element:
        name = _local_name(child)
        inner = plain_of(child)
        parts.append(inner if name == "mrk" else f"{{{child.get('id', '')}:{inner}}}")
        parts.append(child.tail or "")
    return "".join(parts)


def is_blank(element: Element) -> bool:
    """Return whether a segment has neither text nor images."""
    has_node = any(_local_name(one) == "ph" for one in element.iter())
    return not has_node and not "".join(element.itertext()).strip()


# Back.


def text_of_segment(element: Element) -> str:
    """Return the text of a segment of plain text. Raises `InlineError` for inline codes."""
    found = _InlineReader({}, is_rich=False).read(element)
    return "".join(str(node.get("text") or "") for node in found)


def document_of(
    source: Json,
    targets: Sequence[Element],
    codes: Mapping[str, InlineCode],
    *,
    present: Json = None,
    alts: Mapping[str, str] = _NONE,
) -> tuple[JsonObject, list[str]]:
    """Return the source's document with the text of the targets, and the ids of codes that these lack.

    `present` is the present translation, whose links, images and blocks of code stay. `alts` are translated
    texts of images as in `Segments`. Raises `InlineError`.
    """
    reader = _InlineReader(_with_alts(_with_present(codes, present), alts))
    pending = iter(targets)
    blocks = iter(_own_code_blocks(source, present))

    def translate(node: Node) -> JsonObject:
        if kind(node) == "codeBlock":
            return {**next(blocks)}
        copy: JsonObject = dict(node)
        if kind(node) in _TEXT_BLOCKS:
            if children(node):
                copy["content"] = [*reader.read(next(pending))]
        elif children(node):
            copy["content"] = [translate(child) for child in children(node)]
        return copy

    if not isinstance(source, Mapping):
        raise InlineError("no document")
    made = translate(source)
    return made, [id_ for id_ in codes if id_ not in reader.used]


def with_alts(
    present: Json, codes: Mapping[str, InlineCode], alts: Mapping[str, str]
) -> JsonObject | None:
    """Return the present translation with other texts of images, given by the id of their code in the source.

    None if the translation lacks one of the images. Raises `InlineError`.
    """
    own = segments_of(present)
    matched = _match_codes(codes, own.codes)
    by_own: dict[str, str] = {}
    for id_, text in alts.items():
        code = matched.get(id_.removesuffix(CAPTION))
        if code is None:
            return None
        by_own[code.id + (CAPTION if id_.endswith(CAPTION) else "")] = text
    return document_of(present, own.sources, own.codes, present=present, alts=by_own)[0]


def has_same_codes(ours: Segments, theirs: Segments) -> bool:
    """Return whether the codes of two texts are of the same types in the same order, block by block.

    Addresses may differ, as in a translation with links of its own, but the same ones must not have changed places.
    """
    first, second = ([*map(_address_of, text.codes.values())] for text in (ours, theirs))
    is_moved = first != second and sorted(first) == sorted(second)
    return not is_moved and _types_by_block(ours) == _types_by_block(theirs)


def _types_by_block(text: Segments) -> list[list[Json]]:
    return [
        [text.codes[one.get("id", "")].value.get("type") for one in root.iter() if one is not root]
        for root in text.sources
    ]


def _address_of(code: InlineCode) -> str:
    attrs = attributes(code.value)
    return str(attrs.get("href") or attrs.get("src") or "")


def _with_present(codes: Mapping[str, InlineCode], present: Json) -> Mapping[str, InlineCode]:
    """Return the codes with the attributes that their links and images have in the present translation."""
    own = _match_codes(codes, segments_of(present).codes)
    return {
        id_: InlineCode(id_, own[id_].value, code.data, code.is_pair) if id_ in own else code
        for id_, code in codes.items()
    }


def _match_codes(
    codes: Mapping[str, InlineCode], present: Mapping[str, InlineCode]
) -> dict[str, InlineCode]:
    """Return the code of the present translation for each link and image of the source, by its id in the source."""
    found: dict[str, InlineCode] = {}
    for type_ in ("link", "image"):
        ours = [code for code in codes.values() if code.value.get("type") == type_]
        theirs = [code for code in present.values() if code.value.get("type") == type_]
        pairs = _match([*map(_address_of, ours)], [*map(_address_of, theirs)])
        found |= {ours[at].id: theirs[to] for at, to in pairs.items()}
    return found


def _own_code_blocks(source: Json, present: Json) -> list[Node]:
    """Return the code blocks of a translation, or the source's blocks if it has none."""
    ours, theirs = [*_code_blocks(source)], [*_code_blocks(present)]
    pairs = _match([*map(repr, ours)], [*map(repr, theirs)])
    return [theirs[pairs[at]] if at in pairs else block for at, block in enumerate(ours)]


def _code_blocks(document: Json) -> Iterator[Node]:
    return (block for block in _blocks(document) if kind(block) == "codeBlock")


def _match(ours: Sequence[str], theirs: Sequence[str]) -> dict[int, int]:
    """Return the place of each of our values in theirs: of equal ones first, of the others by their order.

    If the numbers differ, only equal values match.
    """
    free: dict[str, list[int]] = {}
    for at in reversed(range(len(theirs))):
        free.setdefault(theirs[at], []).append(at)
    found = {at: free[value].pop() for at, value in enumerate(ours) if free.get(value)}
    if len(ours) == len(theirs):
        others = iter(sorted(at for places in free.values() for at in places))
        found |= {at: next(others) for at in range(len(ours)) if at not in found}
    return found


def _with_alts(
    codes: Mapping[str, InlineCode], alts: Mapping[str, str]
) -> Mapping[str, InlineCode]:
    found = dict(codes)
    for id_, text in alts.items():
        name = "caption" if id_.endswith(CAPTION) else "alt"
        code = found.get(id_.removesuffix(CAPTION))
        if code is not None and code.value.get("type") == "image":
            value: JsonObject = {**code.value, "attrs": {**attributes(code.value), name: text}}
            found[code.id] = InlineCode(code.id, value, code.data, code.is_pair)
    return found


class _InlineReader:
    """Reads segments. Open `<pc>` elements and `<sc/>` codes set the marks."""

    def __init__(self, codes: Mapping[str, InlineCode], *, is_rich: bool = True) -> None:
        self.codes, self.is_rich = codes, is_rich
        self.used: set[str] = set()

    def read(self, element: Element) -> list[JsonObject]:
        self.nodes: list[JsonObject] = []
        self.started: dict[str, JsonObject] = {}
        self._inside(element, (), 0)
        if self.started:
            raise InlineError(", ".join(self.started))
        return self.nodes

    def _inside(self, element: Element, marks: tuple[JsonObject, ...], depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise InlineError("…")
        self._text(element.text, marks)
        for child in element:
            name = _local_name(child)
            self._child(name, child, marks, depth)
            self._text(child.tail, marks)

    def _child(self, name: str, child: Element, marks: tuple[JsonObject, ...], depth: int) -> None:
        match name:
            case "pc":
                code = self._use(child.get("id", ""), is_pair=True)
                self._inside(child, (*marks, code.value), depth + 1)
            case "ph":
                code = self._use(child.get("id", ""), is_pair=False)
                node = dict(code.value)
                # An image takes the marks of links only, a line break none.
                linked = [one for one in (*marks, *self.started.values()) if one["type"] == "link"]
                if linked and node["type"] == "image":
                    node["marks"] = [*linked]
                self.nodes.append(node)
            case "sc":
                code = self._use(child.get("id", ""), is_pair=True)
                self.started[code.id] = code.value
            case "ec":
                id_ = child.get("startRef", "") or child.get("id", "")
                if self.started.pop(id_, None) is None:
                    raise InlineError(id_)
            case "mrk":
                self._inside(child, marks, depth + 1)
            case "sm" | "em" | "cp" | "":
                pass
            case _:
                raise InlineError(name)

    def _use(self, id_: str, *, is_pair: bool) -> InlineCode:
        code = self.codes.get(id_)
        if code is None or code.is_pair is not is_pair or id_ in self.used:
            raise InlineError(id_)
        self.used.add(id_)
        return code

    def _text(self, text: str | None, marks: tuple[JsonObject, ...]) -> None:
        if not text:
            return
        # Tools wrap long lines. A line break of the text is a code.
        text = _WRAPPED.sub(" ", text) if self.is_rich else text
        node: dict[str, Any] = {"type": "text", "text": text}
        distinct: dict[str, JsonObject] = {}
        for mark in (*marks, *self.started.values()):
            distinct.setdefault(str(mark["type"]), mark)
        if distinct:
            node["marks"] = [*distinct.values()]
        self.nodes.append(node)
