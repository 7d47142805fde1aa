"""What the database role of agents may do with notes on pages."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable("proofroom_feedback.Feedback")
