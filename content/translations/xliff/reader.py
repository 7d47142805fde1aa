"""Reads XLIFF 2 from outside. Every document is hostile: no declarations, no entities, limits for everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.utils.translation import gettext as _

from content.translations.xliff.inline import append_inline, is_blank, plain_of, tag
from content.translations.xliff.writer import CATEGORY, METADATA
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.validation.input_validation import parse_uuid

MAX_BYTES: Final = 20 * 1024 * 1024
MAX_TAGS: Final = 1_000_000
"""Maximum number of tags. An element takes far more memory than its tags take in the file."""
MAX_FILES: Final = 1_000
MAX_UNITS: Final = 100_000
MAX_SEGMENTS: Final = 500
"""Maximum number of segments of one unit. Each is joined to the ones before."""
MAX_DEPTH: Final = 100
_ID_MAX: Final = 300
_VERSIONS: Final = frozenset({"2.0", "2.1"})


@dataclass(frozen=True, slots=True)
class ReadSegment:
    """A text, or a paragraph of a rich text. `target` is None if it is not translated."""

    source: Element
    target: Element | None


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """The translation of a text. `source_hash`: the version of its source; empty if a tool dropped it."""

    id: str
    label: str
    source_hash: str
    segments: tuple[ReadSegment, ...]


@dataclass(slots=True)
class ReadFile:
    """The units of a post."""

    post_id: str
    units: list[ReadUnit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadXliff:
    source: str
    target: str
    files: tuple[ReadFile, ...]


def read_xliff(content: bytes) -> ReadXliff:
    """Return the document. Raises `RuleViolation` on `file`."""
    if len(content) > MAX_BYTES:
        raise _refused(
            _("The file is larger than %(most)s MB.") % {"most": MAX_BYTES // 1024**2},
            code="too_large",
        )
    if content.count(b"<") > MAX_TAGS:
        raise _too_many()
    try:
        root = fromstring(content, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    except DefusedXmlException:
        raise _refused(
            _("The file has a document type or entities, which is not supported."),
            code="forbidden_xml",
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise _refused(
            _("The file is not valid XML: %(why)s") % {"why": str(error)[:200]}
        ) from None
    if _is_deeper(root, MAX_DEPTH):
        raise _refused(_("The file is nested too deeply."))
    if root.tag != tag("xliff") or root.get("version") not in _VERSIONS:
        version = str(root.get("version") or "?")[:20]
        if not root.tag.endswith("xliff"):
            raise _refused(_("The file is not XLIFF."))
        raise _refused(
            _("XLIFF %(version)s is not supported. Save the file as XLIFF 2.0 or 2.1.")
            % {"version": version}
        )
    source, target = root.get("srcLang", ""), root.get("trgLang", "")
    if not target:
        raise _refused(_("The file does not name its target language (trgLang)."))
    files = root.findall(tag("file"))
    if len(files) > MAX_FILES or sum(1 for _unit in root.iter(tag("unit"))) > MAX_UNITS:
        raise _too_many()
    return ReadXliff(source, target, tuple(_file(element) for element in files))


def _is_deeper(root: Element, most: int) -> bool:
    """Return whether elements are nested deeper. Without recursion, which a hostile file would exhaust."""
    level = [root]
    for _depth in range(most):
        level = [child for element in level for child in element]
        if not level:
            return False
    return True


def _file(element: Element) -> ReadFile:
    name = element.get("id", "")
    post_id = parse_uuid(name.removeprefix("post-"))
    if not name.startswith("post-") or post_id is None:
        raise _refused(
            _("The file %(name)r of the document was not exported here.") % {"name": name[:80]}
        )
    parts: dict[str, dict[int, Element]] = {}
    # Units may be in groups.
    for unit in element.iter(tag("unit")):
        id_, number = _part_of(unit.get("id", "")[:_ID_MAX])
        numbered = parts.setdefault(id_, {})
        if number in numbered:
            raise _refused(_("Two units have the ID %(id)s.") % {"id": unit.get("id", "")[:80]})
        numbered[number] = unit
    return ReadFile(str(post_id), [_unit(id_, numbered) for id_, numbered in parts.items()])


def _part_of(id_: str) -> tuple[str, int]:
    """Return the id of a text, and the number of its paragraph; 1 if the id has none."""
    text, _colon, number = id_.rpartition(":")
    is_part = bool(text) and number.isascii() and number.isdigit() and len(number) < 6
    return (text, int(number)) if is_part else (id_, 1)


def _unit(id_: str, numbered: dict[int, Element]) -> ReadUnit:
    units = [numbered[number] for number in sorted(numbered)]
    # A missing part must not move the others.
    is_whole = sorted(numbered) == list(range(1, len(numbered) + 1))
    segments = [_segment(unit) for unit in units] if is_whole else []
    return ReadUnit(id_, units[0].get("name", "")[:200] or id_, _hash_in(units[0]), tuple(segments))


def _segment(unit: Element) -> ReadSegment:
    """Return the text of a unit. A tool may have split it into several segments all the same."""
    source, target = Element(tag("source")), Element(tag("target"))
    is_translated = False
    children = [one for one in unit if one.tag in (tag("segment"), tag("ignorable"))]
    if len(children) > MAX_SEGMENTS:
        raise _too_many()
    for child in children:
        part = child.find(tag("source"))
        if part is None:
            continue
        append_inline(source, part)
        own = child.find(tag("target"))
        # Tools copy the source into untranslated targets.
        is_initial = child.get("state", "initial") == "initial"
        is_copy = is_initial and own is not None and plain_of(own) == plain_of(part)
        # Tools also write empty targets for untranslated segments.
        is_empty = is_initial and own is not None and is_blank(own)
        is_target = own is not None and not is_copy and not is_empty
        is_translated |= child.tag == tag("segment") and is_target
        append_inline(target, part if own is None or is_empty else own)
    if is_blank(target) and not is_blank(source):
        is_translated = False
    return ReadSegment(source, target if is_translated else None)


def _hash_in(unit: Element) -> str:
    for group in unit.iter(f"{{{METADATA}}}metaGroup"):
        if group.get("category") == CATEGORY:
            for meta in group.findall(f"{{{METADATA}}}meta"):
                if meta.get("type") == "source":
                    return (meta.text or "").strip()[:64]
    return ""


def _too_many() -> RuleViolation:
    return _refused(_("The file has too many texts. Import it in parts."), code="too_many")


def _refused(sentence: str, code: str = "invalid") -> RuleViolation:
    return invalid("file", sentence, code=code)
