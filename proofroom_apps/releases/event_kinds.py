"""Kinds of events of releases."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_MANAGE: Final = "releases.manage"

KINDS: Final = (
    EventKind("release.created", "Release created", _MANAGE),
    EventKind("release.changed", "Release changed", _MANAGE),
    EventKind("release.deleted", "Release deleted", _MANAGE),
    EventKind("release.scheduled", "Release scheduled", _MANAGE),
    EventKind("release.unscheduled", "Schedule of a release removed", _MANAGE),
    EventKind("release.item-added", "Item added to a release", _MANAGE),
    EventKind("release.item-removed", "Item removed from a release", _MANAGE),
    EventKind("release.published", "Release published", _MANAGE),
    EventKind("release.undone", "Release undone", _MANAGE),
    EventKind("release.failed", "Release failed", _MANAGE),
    EventKind("release.preview-link.created", "Preview link of a release created", _MANAGE),
    EventKind("release.preview-link.revoked", "Preview link of a release revoked", _MANAGE),
)
