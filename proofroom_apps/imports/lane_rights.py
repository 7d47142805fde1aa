"""What the database role of agents may do with imports and exports: nothing."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden

RIGHTS: Final = hidden(
    "proofroom_imports.ExportSchedule",
    "proofroom_imports.ImportRun",
    "proofroom_imports.ImportLine",
    "proofroom_imports.ImportChunk",
    "proofroom_imports.ImportedObject",
)
