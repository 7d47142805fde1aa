"""Kinds of events of media."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

_VIEW = "media.view"

KINDS = (
    EventKind("media.alt-text.accepted", "Alt text accepted", _VIEW),
    EventKind("media.alt-text.proposed", "Alt text proposed", _VIEW),
    EventKind("media.alt-text.rejected", "Alt text rejected", _VIEW),
    EventKind("media.deleted", "File deleted", _VIEW, is_live=True),
    EventKind("media.orphans.deleted", "Orphaned files deleted", _VIEW),
    EventKind("media.replaced", "File replaced", _VIEW, is_live=True),
    EventKind("media.updated", "File details changed", _VIEW, is_live=True),
    EventKind("media.uploaded", "File uploaded", _VIEW),
    EventKind("media.variants", "Sizes of a file", _VIEW, is_live=True),
)
