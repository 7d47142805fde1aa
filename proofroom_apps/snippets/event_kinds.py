"""Kinds of events of snippets and post templates."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_VIEW: Final = "posts.view"

KINDS = (
    EventKind("snippet.created", "Snippet created", _VIEW),
    EventKind("snippet.changed", "Snippet changed", _VIEW),
    EventKind("snippet.deleted", "Snippet deleted", _VIEW),
    EventKind("postTemplate.created", "Post template created", _VIEW),
    EventKind("postTemplate.deleted", "Post template deleted", _VIEW),
)
