"""Kinds of events of reviewers without an account."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

KINDS: Final = (
    EventKind("post.reviewer-link.created", "Reviewer link created", "reviewers.invite"),
    EventKind("post.reviewer-link.revoked", "Reviewer link revoked", "reviewers.invite"),
    EventKind("post.reviewer-advice.given", "Advice of a reviewer given", "posts.view"),
)
