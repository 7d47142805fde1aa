"""What the database role of agents may do with editorial briefs."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable("proofroom_briefs.Brief")
