"""Kinds of events of the disclosure of AI work."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import site_effect

KINDS = (
    EventKind(
        "disclosure.changed",
        "Disclosure of AI work changed",
        "disclosure.edit",
        is_live=True,
        effect=site_effect,
    ),
)
