"""Kinds of events of preview links."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

KINDS: Final = (
    EventKind("post.preview-link.created", "Preview link created", "posts.preview"),
    EventKind("post.preview-link.revoked", "Preview link revoked", "posts.preview"),
)
