"""What the database role of agents may do with comments: reply in a thread, and resolve it."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable, writable

RIGHTS: Final = (
    *writable(
        "proofroom_comments.Comment",
        inserts=True,
        updates=("status", "resolved_by", "resolved_at"),
        # Only people start threads, and assign them.
        new_rows="parent_id IS NOT NULL AND assignee_id IS NULL",
        changed_rows="true",
    ),
    *readable("proofroom_comments.AgentMention"),
)
