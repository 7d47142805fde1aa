"""What the database role of agents may do with the revisions of shared content."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable(
    "proofroom_shared_content.SharedRevision",
    "proofroom_shared_content.ApprovalRule",
    "proofroom_shared_content.SharedProposal",
)
