"""What the database role of agents may do with the settings of the disclosure of AI work."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable(
    "proofroom_disclosure.DisclosureSettings", "proofroom_disclosure.DisclosedType"
)
