"""Find and replace as the wire has it."""

from __future__ import annotations

from typing import Final

from content.models import Replacement
from content.presenters.modules import Wire
from content.richtext.text import to_text
from content.services.find_replace import Replaced, Undone
from content.store import iso
from core.json import Json
from core.replacing import Place

SAMPLE: Final = 50
_LONGEST: Final = 300


def replaced(done: Replaced, *, is_dry_run: bool) -> Wire:
    return {
        "id": done.row.pk if done.row else None,
        "dryRun": is_dry_run,
        "total": len(done.places),
        "tables": done.counts,
        "sample": [_place(place) for place in done.places[:SAMPLE]],
    }


def _place(place: Place) -> Wire:
    before, after = _part(place.before, place.after)
    return {
        "table": place.table,
        "id": place.row,
        "field": place.field,
        "before": before,
        "after": after,
    }


def _part(before: Json, after: Json) -> tuple[str, str]:
    """Both texts around where they begin to differ, so that a long one shows the difference."""
    one, other = _text(before), _text(after)
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    start = max(0, same - _LONGEST // 3)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    part = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{part}{'…' if start + _LONGEST < len(text) else ''}"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else to_text(value)


def replacement(row: Replacement) -> Wire:
    return {
        "id": row.pk,
        "find": row.find,
        "replace": row.replace,
        "caseSensitive": row.case_sensitive,
        "total": row.total,
        "tables": row.counts,
        "by": {"id": row.by_id, "username": row.by_name},
        "createdAt": iso(row.created_at),
        "undoneAt": iso(row.undone_at),
    }


def undone(done: Undone) -> Wire:
    return {
        "id": done.row.pk,
        "restored": done.restored,
        "keptTotal": len(done.kept),
        "kept": [
            {"table": table, "id": row, "field": field} for table, row, field in done.kept[:SAMPLE]
        ],
    }
