"""Kinds of events of the disclosure of AI work."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind(
        "disclosure.changed", "Disclosure of AI work changed", "disclosure.edit", is_live=True
    ),
)
