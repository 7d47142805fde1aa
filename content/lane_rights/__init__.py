"""What the database role of agents may do with posts, their layers and what is derived from them.

It changes rows of AI Review. Three functions lead further, each for one thing: lock posts, make a proposed post, and
move changes from AI Review to Review.
"""

from __future__ import annotations

from typing import Final

from content.lane_rights.functions import FUNCTIONS, TRIGGERS
from proofroom.core.lane import hidden, lockable, readable, writable

_OF_PROPOSED_POST: Final = (
    "EXISTS (SELECT FROM {tables}.content_post p WHERE p.id = post_id AND p.is_placeholder)"
)
"""Rows of a post that an agent made and no person has approved."""
_OF_SUBMITTED: Final = (
    "EXISTS (SELECT FROM {lane}.submission s "
    "WHERE s.post_id = content_queuedchange.post_id AND s.transaction = pg_current_xact_id())"
)
"""Rows of a post of which this transaction submitted changes. They follow from drafts that `submit` has checked."""

__all__ = ["FUNCTIONS", "RIGHTS", "TRIGGERS"]

RIGHTS: Final = (
    *readable(
        "content.Post",
        "content.PostAuthor",
        "content.PostTerm",
        "content.PostModule",
        "content.Provenance",
        "content.ModuleGroup",
        "content.UrlPattern",
        "content.TreeMove",
        "content.Revision",
        "content.RejectedChange",
        "content.EditedProposal",
        "content.ScheduledApproval",
        "content.SearchWord",
        "content.ContentMigration",
        "content.EditingMark",
        "content.DecisionBatch",
        "content.DecisionItem",
        "content.PostJob",
        "content.PostJobItem",
        "content.Replacement",
        "content.ReplacedPlace",
        "content.CheckedAddress",
        "content.AccessibilityReport",
    ),
    # What a person has typed and not saved.
    *hidden("content.Autosave"),
    # A global module is locked while a post is written that places it.
    *lockable("content.ModuleInstance"),
    *writable("content.Draft", inserts=True, updates=None, rows="layer = 'ai-review'"),
    *writable(
        "content.QueuedChange",
        inserts=True,
        updates=None,
        deletes=True,
        rows=f"layer = 'ai-review' OR {_OF_SUBMITTED}",
    ),
    *writable("content.CopyOrigin", inserts=True, rows=_OF_PROPOSED_POST),
    *writable("content.ContentLink", inserts=True, rows=_OF_PROPOSED_POST),
    *writable("content.FieldValue", inserts=True, rows=_OF_PROPOSED_POST),
    *writable("content.SearchEntry", inserts=True, updates=None, rows=_OF_PROPOSED_POST),
)
