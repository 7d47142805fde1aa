"""A changed value as pieces that a template shows: text, blocks, chips, thumbnails, lists, items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, cast

from django.utils.translation import gettext as _

from content.changes import ABSENT
from content.definitions import ModuleProps, props_of
from content.definitions.shape import option_label
from content.review.blocks import BlockDiff, Stretch, diff_blocks, stretches
from content.review.diff import Segment, diff_text
from content.review.references import MediaView, References
from core.words import in_words

_WORDS: Final = frozenset({"text", "textarea", "url", "link", "form-reference", "icon"})
_MOST_ITEMS: Final = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """`kind` says which of the others is filled: `text` segments, `blocks`, `chips` before and after, `media`
    before and after with the difference of their `alt` texts, `list` removed/added/kept, `items` of a repeater,
    `rows` of an object or module."""

    kind: str
    segments: tuple[Segment, ...] = ()
    blocks: tuple[BlockDiff, ...] = ()
    before: str | None = None
    after: str | None = None
    media_before: MediaView | None = None
    media_after: MediaView | None = None
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    note: str = ""
    alt: tuple[Segment, ...] = ()

    @property
    def stretches(self) -> list[Stretch]:
        return stretches(self.blocks)

    @property
    def has_two_images(self) -> bool:
        """Whether one picture can be laid over the other."""
        return all(side and side.url for side in (self.media_before, self.media_after))


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled piece. `status` is same, changed, inserted or removed."""

    label: str
    piece: Piece
    status: str = "changed"
    field_kind: str = field(default="")


def piece_of(
    kind: str,
    nested: type[ModuleProps] | None,
    before: object,
    after: object,
    references: References,
) -> Piece:
    """The change of one value of a field type. `ABSENT` and null are nothing."""
    old = None if before is ABSENT else before
    new = None if after is ABSENT else after
    if kind in _WORDS and _is_text(old) and _is_text(new):
        return _text(cast("str", old or ""), cast("str", new or ""))
    if kind == "richtext" and _is_document(old) and _is_document(new):
        return Piece("blocks", blocks=tuple(diff_blocks(old, new)))
    if kind == "media":
        return _pictures(_media(old, references), _media(new, references))
    if kind in ("post-reference", "taxonomy-reference", "multiselect"):
        return _listed(kind, old, new, references)
    if kind == "repeater" and nested is not None:
        return Piece("items", rows=tuple(_items(nested, old, new, references)))
    if kind == "object" and nested is not None:
        return Piece("rows", rows=tuple(rows_of(nested, old, new, references)))
    if kind == "select" and _is_text(old) and _is_text(new):
        return Piece("chips", before=_option(old), after=_option(new))
    if _is_scalar(old) and _is_scalar(new):
        return Piece("chips", before=_chip(old), after=_chip(new))
    return _text(_pretty(old), _pretty(new))


def _pictures(old: MediaView | None, new: MediaView | None) -> Piece:
    one, other = old.alt if old else "", new.alt if new else ""
    alt = tuple(diff_text(one, other)) if one != other else ()
    return Piece("media", media_before=old, media_after=new, alt=alt)


def _text(old: str, new: str) -> Piece:
    segments = tuple(diff_text(old, new))
    blank = old != new and all(segment.kind == "same" for segment in segments)
    return Piece(
        "text", segments=segments, note=_("Only spaces or line breaks differ.") if blank else ""
    )


def rows_of(
    props: type[ModuleProps], before: object, after: object, references: References
) -> list[Row]:
    """One row for each field that has a value on either side; equal ones are left out where both sides exist."""
    old = before if isinstance(before, Mapping) else {}
    new = after if isinstance(after, Mapping) else {}
    rows = []
    for prop in props_of(props).values():
        one, other = old.get(prop.name), new.get(prop.name)
        if one == other or ((not old or not new) and _is_blank(one) and _is_blank(other)):
            continue
        piece = piece_of(prop.kind, prop.nested, one, other, references)
        rows.append(Row(in_words(prop.label), piece, field_kind=prop.kind))
    known = set(props_of(props))
    for name in dict.fromkeys((*old, *new)):
        if name not in known and old.get(name) != new.get(name):
            piece = piece_of("json", None, old.get(name), new.get(name), references)
            rows.append(Row(str(name), piece))
    return rows


def _items(
    nested: type[ModuleProps], before: object, after: object, references: References
) -> list[Row]:
    old, new = _as_list(before), _as_list(after)
    keys = [_key(item) for item in old], [_key(item) for item in new]
    rows: list[Row] = []
    for tag, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        paired = min(b - a, d - c)
        for at in range(max(b - a, d - c)):
            one = old[a + at] if at < b - a else None
            other = new[c + at] if at < d - c else None
            status = "changed" if at < paired else "inserted" if one is None else "removed"
            number = (c + at if other is not None else a + at) + 1
            rows.append(
                Row(
                    _("Item %(number)s") % {"number": number},
                    Piece("rows", rows=tuple(rows_of(nested, one, other, references))),
                    status,
                )
            )
    return rows


def _as_list(value: object) -> list[object]:
    return list(value)[:_MOST_ITEMS] if isinstance(value, list | tuple) else []


def _listed(kind: str, old: object, new: object, references: References) -> Piece:
    one, other = _names(kind, old, references), _names(kind, new, references)
    return Piece(
        "list",
        removed=tuple(name for name in one if name not in other),
        added=tuple(name for name in other if name not in one),
        kept=tuple(name for name in other if name in one),
        note=_("The order changed.") if sorted(one) == sorted(other) and one != other else "",
    )


def _names(kind: str, value: object, references: References) -> list[str]:
    if value is None:
        return []
    ids: Sequence[object] = value if isinstance(value, list | tuple) else [value]
    titles = references.posts if kind == "post-reference" else references.terms
    if kind == "multiselect":
        return [_option(id_) or "" for id_ in ids]
    return [titles.get(str(id_), _missing(id_)) for id_ in ids]


def _media(value: object, references: References) -> MediaView | None:
    if not value:
        return None
    return references.media.get(str(value)) or MediaView(_missing(value), "", "")


def _missing(id_: object) -> str:
    return _("(missing %(id)s)") % {"id": str(id_)[:8]}


def _option(value: object) -> str | None:
    return in_words(option_label(value)) if value else None


def _chip(value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return str(value)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_document(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_blank(value: object) -> bool:
    return value in (None, "", [], {}) or value == {
        "type": "doc",
        "content": [{"type": "paragraph"}],
    }


def _pretty(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)


def _key(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
