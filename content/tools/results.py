"""Results of tools whose shape is stable. Optional keys are left out, never null."""

from __future__ import annotations
