"""What the database role of agents may do with media: it adds images and proposes alt texts, and changes no file."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable, writable

_STAGED: Final = (
    "holder_kind = 'post' AND (layer = 'ai-review' OR layer = 'review' AND EXISTS (SELECT FROM {lane}.submission s "
    "WHERE s.post_id = holder_id AND s.transaction = pg_current_xact_id()))"
)
"""References of AI Review, and of Review in a transaction that submits changes of the post."""

RIGHTS: Final = (
    # Locked while a draft is written that shows it.
    *writable("media.Asset", inserts=True, locks=True),
    *writable("media.AssetSearchEntry", inserts=True, updates=None),
    *writable("media.MediaReference", inserts=True, deletes=True, rows=_STAGED),
    # A file gets its asset once it is written, and then belongs to it.
    *writable(
        "media.StoredFile",
        inserts=True,
        updates=("asset", "due_at", "is_deleted"),
        deletes=True,
        rows="asset_id IS NULL",
        new_rows="asset_id IS NULL",
        changed_rows="true",
    ),
    *writable("media.VariantWork", inserts=True, locks=True),
    # Only people decide on a proposal.
    *writable(
        "media.AltTextProposal",
        inserts=True,
        updates=("state",),
        rows="state = 'waiting'",
        new_rows="state = 'waiting'",
        changed_rows="state = 'replaced'",
    ),
    *readable("media.FileCheck"),
)
