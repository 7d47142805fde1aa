"""What the database role of agents may do with editorial steps: read them. Only people decide."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable

RIGHTS: Final = (
    *readable("proofroom_steps.StepRound"),
    *hidden("proofroom_steps.StepDecision", "proofroom_steps.Absence"),
)
