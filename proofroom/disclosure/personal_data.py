"""Personal data of the disclosure of AI work: none. Who agreed to be named is a preference of the account."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = (
    "proofroom_disclosure.DisclosureSettings",
    "proofroom_disclosure.DisclosedType",
)
