"""A chain with some links, for tests that break it."""

from __future__ import annotations

from proofroom.core import outbox
from proofroom.core.activity.chain import read_head, seal_events, verify
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from tests import make


def happened(number: int, name: str = "agent.switched", **payload: str) -> list[Event]:
    """Record unsealed events."""
    things: list[tuple[None, JsonObject]] = []
    for at in range(number):
        things.append((None, {"id": f"agent-{at}", **payload}))
    return outbox.record_all(name, things, actor=make.actor("admin"))


def sealed(number: int, name: str = "agent.switched", **payload: str) -> list[Event]:
    """Record sealed events."""
    made = happened(number, name, **payload)
    seal_events()
    return made


def findings(head: str = "") -> list[tuple[str, int | None]]:
    """Return the errors of a walk: codes with their links."""
    found = verify(read_head(head) if head else None)
    return [(finding.code, finding.seq) for finding in found.findings]
