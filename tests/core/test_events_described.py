"""docs/events.md matches the event kinds in the code."""

from __future__ import annotations

from pathlib import Path

from proofroom.core import outbox
from proofroom.core.outbox import EventKind

PAGE = Path(__file__).resolve().parents[2] / "docs" / "events.md"


def row_of(kind: EventKind) -> str:
    """Return the row of the table, without the payload."""
    marks = {
        "webhook": kind.is_webhook,
        "agents": kind.is_trigger,
        "live": kind.is_live,
        "private": kind.is_private,
        "internal": kind.is_internal,
        "progress": kind.is_progress,
    }
    said = ", ".join(name for name, is_so in marks.items() if is_so)
    cells = [f"`{kind.name}`", kind.label, str(kind.version), f"`{kind.permission}`", said]
    return "| " + " | ".join(cells).replace("|  |", "| |").rstrip()


def test_every_kind_of_event_has_its_row_and_no_other_has_one() -> None:
    head = "| Event | Meaning | Version | Who may learn of it | Marks | Payload |"
    table = PAGE.read_text().partition(head)[2].splitlines()[2:]
    rows = [line.rsplit("|", 2) for line in table]

    described = [before.replace("|  |", "| |").rstrip() for before, _, _ in rows]
    declared = [row_of(kind) for kind in outbox.all_kinds()]

    assert described == declared
    assert [payload for _, payload, _ in rows if not payload.strip()] == []
