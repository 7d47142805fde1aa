"""What the database role of agents may do with reviewer links: nothing, they are for people outside."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden

RIGHTS: Final = hidden("proofroom_reviewers.ReviewerLink", "proofroom_reviewers.ReviewerAdvice")
