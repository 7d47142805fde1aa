"""Personal data of editorial briefs: none. Their versions belong to shared content."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("proofroom_briefs.Brief",)
