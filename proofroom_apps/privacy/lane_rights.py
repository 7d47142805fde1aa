"""What the database role of agents may do with requests about personal data: nothing."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden

RIGHTS: Final = hidden("proofroom_privacy.PersonalDataRequest", "proofroom_privacy.ExportChunk")
