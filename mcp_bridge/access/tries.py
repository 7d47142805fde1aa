"""Wrong credentials, slowed down by the address that they come from, as log-ins are.

A credential that was right from an address stays let in there: a client that was set up wrongly must not keep out
the others behind the same address.
"""

from __future__ import annotations

import hashlib
import time
from typing import Final

from core.api.throttles import Count, counted_as, is_allowed_freely

_MOST_KEPT: Final = 10_000


class Tries:
    """The addresses that have to wait, and the credentials that were right."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._right: dict[tuple[str, bytes], None] = {}

    def wait(self, address: str, credential: bytes) -> int:
        """The seconds that the credential has to wait before it is looked at; 0 for none."""
        left = self._until.get(counted_as(address), 0.0) - time.time()
        if left <= 0 or _key(address, credential) in self._right:
            return 0
        return max(1, round(left))

    def was_right(self, address: str, credential: bytes) -> None:
        if len(self._right) >= _MOST_KEPT:
            self._right.clear()
        self._right[_key(address, credential)] = None

    def was_wrong(self, address: str) -> int:
        """Count the try. The seconds to wait where that were too many, else 0. Asks the cache."""
        if is_allowed_freely(address):
            return 0
        count = Count("login", f"mcp:{counted_as(address)}")
        if not count.is_over:
            return 0
        if len(self._until) >= _MOST_KEPT:
            self._until.clear()
        self._until[counted_as(address)] = time.time() + count.wait
        return count.wait


def _key(address: str, credential: bytes) -> tuple[str, bytes]:
    return counted_as(address), hashlib.sha256(credential).digest()
