"""Writes XLIFF 2.0: a file for each post, a unit for each text, and for each paragraph of a rich text.

The paragraphs of a text are a group. Each unit has one segment, since many tools read only one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

from content.translations.xliff.inline import XLIFF, Segments, storable, tag

METADATA: Final = "urn:oasis:names:tc:xliff:metadata:2.0"
XML: Final = "http://www.w3.org/XML/1998/namespace"
CATEGORY: Final = "proofroom"
"""Category of our metadata: the version of the source that a unit was made from."""


@dataclass(frozen=True, slots=True)
class UnitToWrite:
    """A text with the segments of its source. `targets`: the segments of its present translation, if any."""

    id: str
    label: str
    source_hash: str
    segments: Segments
    notes: Sequence[str] = ()
    targets: Sequence[Element] = ()
    state: str = "initial"
    sub_state: str = ""


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A post. `original` is its address."""

    post_id: str
    original: str
    notes: Sequence[str]
    units: Sequence[UnitToWrite]


def write_xliff(files: Iterable[FileToWrite], source: str, target: str) -> bytes:
    """Return the document."""
    register_namespace("", XLIFF)
    register_namespace("mda", METADATA)
    root = Element(tag("xliff"), version="2.0", srcLang=source, trgLang=target)
    for file in files:
        _add_file(root, file)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _add_file(root: Element, file: FileToWrite) -> None:
    element = SubElement(
        root, tag("file"), id=f"post-{file.post_id}", original=storable(file.original)
    )
    _add_notes(element, file.notes)
    for unit in file.units:
        _add_units(element, unit)


def _add_notes(element: Element, notes: Sequence[str]) -> None:
    if notes:
        parent = SubElement(element, tag("notes"))
        for note in notes:
            SubElement(parent, tag("note")).text = storable(note)


def _add_units(element: Element, unit: UnitToWrite) -> None:
    sources = unit.segments.sources
    if len(sources) == 1:
        element.append(_unit(unit, 0, unit.id))
        return
    group = SubElement(element, tag("group"), id=unit.id, name=_name(unit))
    for number in range(len(sources)):
        group.append(_unit(unit, number, f"{unit.id}:{number + 1}"))


def _name(unit: UnitToWrite) -> str:
    return storable(unit.label)[:200]


def _unit(unit: UnitToWrite, number: int, id_: str) -> Element:
    source = unit.segments.sources[number]
    element = Element(tag("unit"), id=id_, name=_name(unit), canResegment="no")
    element.set(f"{{{XML}}}space", "preserve")
    metadata = SubElement(element, f"{{{METADATA}}}metadata")
    group = SubElement(metadata, f"{{{METADATA}}}metaGroup", category=CATEGORY)
    SubElement(group, f"{{{METADATA}}}meta", type="source").text = unit.source_hash
    _add_notes(element, unit.notes)
    used = {one.get("id") for one in source.iter() if one is not source}
    codes = [code for code in unit.segments.codes.values() if code.id in used]
    if codes:
        original = SubElement(element, tag("originalData"))
        for code in codes:
            names = ("s", "e") if code.is_pair else ("",)
            for name, data in zip(names, code.data, strict=True):
                SubElement(original, tag("data"), id=f"d{code.id}{name}").text = storable(data)
    segment = SubElement(element, tag("segment"), id="s1", state=unit.state)
    if unit.sub_state:
        segment.set("subState", unit.sub_state)
    segment.append(source)
    if number < len(unit.targets):
        target = unit.targets[number]
        target.tag = tag("target")
        segment.append(target)
    return element
