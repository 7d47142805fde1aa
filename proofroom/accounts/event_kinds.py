"""Event types of accounts and tokens."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("user.created", "Account created", "users.manage"),
    EventKind("user.changed", "Account changed", "users.manage"),
    EventKind("role.created", "Role created", "users.manage"),
    EventKind("role.changed", "Role changed", "users.manage"),
    EventKind("role.removed", "Role deleted", "users.manage"),
    EventKind("user.logged-in", "Logged in", "users.manage"),
    EventKind("user.login-failed", "Login failed", "users.manage"),
    EventKind("user.logged-out", "Logged out", "users.manage"),
    EventKind("user.password-reset", "Password reset", "users.manage"),
    EventKind("user.email-changed", "Email changed", "users.manage"),
    EventKind("user.second-factor-added", "Login method added", "users.manage"),
    EventKind("user.second-factor-removed", "Login method removed", "users.manage"),
    EventKind("invitation.created", "Invitation sent", "users.manage"),
    EventKind("invitation.accepted", "Invitation accepted", "users.manage"),
    EventKind("invitation.revoked", "Invitation revoked", "users.manage"),
    EventKind("token.created", "API token created", "tokens.manage"),
    EventKind("token.limited", "API token limited to part of the content", "tokens.manage"),
    EventKind("token.revoked", "API token revoked", "tokens.manage"),
    EventKind("token.used", "Token used", "tokens.manage"),
)
