"""Kinds of events of accounts and tokens."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("user.created", "Account created", "users.manage"),
    EventKind("user.changed", "Account changed", "users.manage"),
    EventKind("user.logged-in", "Logged in", "users.manage"),
    EventKind("user.logged-out", "Logged out", "users.manage"),
    EventKind("token.created", "API token created", "tokens.manage"),
    EventKind("token.revoked", "API token revoked", "tokens.manage"),
)
