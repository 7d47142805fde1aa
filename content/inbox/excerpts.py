"""A comparison cut down to what a line of a list shows: only what differs, with a few words around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from content.review.diff import Segment, SegmentKind
from content.review.differences import (
    Comparison,
    Difference,
    DifferenceKind,
    DiffLine,
    ReferenceKind,
    ShownReference,
    Side,
    Status,
    side_to_json,
)
from proofroom.core.json import Json, JsonObject

SHORT_VALUE_LENGTH: Final = 300
"""Characters of a text that goes or comes, beyond which a change must be opened."""
MAX_EXCERPT_LENGTH: Final = 2_000
"""So much of it is shown at most."""
MAX_EXCERPT_LINES: Final = 120
_AROUND: Final = 8
"""Words that stay before and after what changed."""
_WIDE: Final = 60
"""The same in characters, for scripts without spaces."""


def excerpt(comparison: Comparison) -> tuple[Comparison, bool]:
    """The comparison without what stays the same, and whether nothing that differs is left out."""
    lines = [line for line in comparison.lines if line.differences]
    is_whole = len(lines) <= MAX_EXCERPT_LINES
    found: list[DiffLine] = []
    for line in lines[:MAX_EXCERPT_LINES]:
        segments = [_cut(segment, line.segments, at) for at, segment in enumerate(line.segments)]
        # What goes or comes is drawn as text already.
        differences = [
            one for one in line.differences if not (line.segments and one.kind == "text")
        ]
        cut = [_cut_sides(one) for one in differences]
        is_whole = is_whole and cut == differences and not _is_cut(line.segments)
        found.append(replace(line, segments=tuple(segments), differences=tuple(cut)))
    return replace(comparison, lines=tuple(found)), is_whole


def to_json(comparison: Comparison) -> list[Json]:
    return [
        {
            "place": list(line.place),
            "role": line.role,
            "status": line.status,
            "segments": [[segment.kind, segment.text] for segment in line.segments],
            "differences": [_difference_to_json(one) for one in line.differences],
        }
        for line in comparison.lines
    ]


def from_json(value: Sequence[Mapping[str, Json]]) -> Comparison:
    """Read what `to_json` wrote."""
    return Comparison(tuple(_line(line) for line in value))


def _line(value: Mapping[str, Json]) -> DiffLine:
    segments = cast("list[list[str]]", value["segments"])
    return DiffLine(
        place=tuple(cast("list[str]", value["place"])),
        role=cast(str, value["role"]),
        status=cast(Status, value["status"]),
        segments=tuple(Segment(cast(SegmentKind, kind), text) for kind, text in segments),
        differences=tuple(map(_difference, cast("list[JsonObject]", value["differences"]))),
    )


def _difference_to_json(one: Difference) -> JsonObject:
    return {
        "kind": one.kind,
        "place": list(one.place),
        "before": side_to_json(one.before),
        "after": side_to_json(one.after),
        "about": one.about,
    }


def _difference(value: Mapping[str, Json]) -> Difference:
    return Difference(
        cast(DifferenceKind, value["kind"]),
        tuple(cast("list[str]", value["place"])),
        _side(value["before"]),
        _side(value["after"]),
        cast(str, value["about"]),
    )


def _side(value: Json) -> Side | None:
    if isinstance(value, list):
        kind, id_ = cast("list[str]", value)
        return ShownReference(cast(ReferenceKind, kind), id_)
    return cast("str | None", value)


def _cut(segment: Segment, among: Sequence[Segment], at: int) -> Segment:
    text = segment.text
    if segment.kind != "same":
        return (
            segment
            if len(text) <= MAX_EXCERPT_LENGTH
            else Segment(segment.kind, text[:MAX_EXCERPT_LENGTH] + "…")
        )
    is_first, is_last = at == 0, at == len(among) - 1
    if is_first and is_last:
        return Segment("same", text if len(text) <= 2 * _WIDE else text[: 2 * _WIDE] + "…")
    words = text.split(" ")
    head, tail = (
        (" ".join(words[: _AROUND + 1]) if len(words) > 1 else text[:_WIDE]),
        _last_words(text),
    )
    if is_first:
        return Segment("same", tail if tail == text else f"…{tail}")
    if is_last:
        return Segment("same", head if head == text else f"{head}…")
    return segment if len(head) + len(tail) >= len(text) else Segment("same", f"{head} … {tail}")


def _last_words(text: str) -> str:
    words = text.split(" ")
    return " ".join(words[-_AROUND - 1 :]) if len(words) > 1 else text[-_WIDE:]


def _is_cut(segments: Sequence[Segment]) -> bool:
    return any(
        segment.kind != "same" and len(segment.text) > SHORT_VALUE_LENGTH for segment in segments
    )


def _cut_sides(one: Difference) -> Difference:
    sides = (
        f"{side[:MAX_EXCERPT_LENGTH]}…"
        if isinstance(side, str) and len(side) > MAX_EXCERPT_LENGTH
        else side
        for side in (one.before, one.after)
    )
    before, after = sides
    return replace(one, before=before, after=after)
