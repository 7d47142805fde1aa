"""Export of the activity log as CSV or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, cast

from django.db.models import QuerySet

from proofroom.core import outbox
from proofroom.core.activity.presenters import EntryAnswer, present
from proofroom.core.activity.queries import ActivityFilter, filter_activity
from proofroom.core.actor import Actor
from proofroom.core.api.body import dumps
from proofroom.core.csv_export import header_line, line
from proofroom.core.json import JsonObject
from proofroom.core.models import Event

Format = Literal["csv", "jsonl"]
_CHUNK: Final = 500
_COLUMNS: Final = (
    ("ID", "id"),
    ("At", "createdAt"),
    ("Entry", "sentence"),
    ("Event", "event"),
    ("Who", "who"),
    ("Who (ID)", "whoId"),
    ("Door", "door"),
    ("Agent", "agentId"),
    ("Run", "runId"),
    ("Post", "postId"),
    ("Caused by", "causeId"),
    ("Details", "details"),
    ("Link", "link"),
    ("Hash", "hash"),
)


def export(*, chosen: ActivityFilter, format: Format, actor: Actor) -> Iterator[str]:
    """Return the filtered entries as lines, newest first, and log the export."""
    actor.require("settings.manage")
    actor.require_person("export the activity log")
    payload: JsonObject = {"format": format, "chosen": chosen.told()}
    told = outbox.record("activity.exported", actor=actor, payload=payload)
    # The file ends with the entry of the export, although more events happen while it streams.
    rows = filter_activity(chosen).filter(pk__lte=told.pk)
    if format == "csv":
        return _csv(rows, actor)
    return (dumps(entry).decode() + "\n" for entry in _presented(rows, actor))


def _csv(rows: QuerySet[Event], actor: Actor) -> Iterator[str]:
    yield header_line(title for title, _ in _COLUMNS)
    for entry in _presented(rows, actor):
        who, seal = entry["actor"], entry["seal"]
        flat = {
            **cast("JsonObject", entry),
            "createdAt": dumps(entry["createdAt"]).decode().strip('"'),
            "who": who["username"],
            "whoId": who["id"],
            "details": dumps(entry["payload"]).decode(),
            "link": seal["seq"] if seal is not None else None,
            "hash": seal["hash"] if seal is not None else None,
        }
        yield line(flat[name] for _, name in _COLUMNS)


def _presented(rows: QuerySet[Event], actor: Actor) -> Iterator[EntryAnswer]:
    found = rows.iterator(chunk_size=_CHUNK)
    while chunk := list(islice(found, _CHUNK)):
        yield from present(chunk, actor)
