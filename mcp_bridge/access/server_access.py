"""A server's cache of credentials and accounts: short-lived, and cleared when one of them changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, Final

from proofroom.core.caching.rate_limit_buffer import BufferedHits
from proofroom.core.database_notifications import Subscription, listen, notify

CHANNEL: Final = "mcp_access"
_MAX_ENTRIES: Final = 10_000


class KnownAccess:
    """A cache of answers by key. Thread-safe, because each step is a single dict operation."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[float, Any]] = {}

    def find(self, key: Hashable) -> Any:
        """Return the cached answer; None if missing or expired."""
        found = self._answers.get(key)
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def keep(self, key: Hashable, answer: object, seconds: float) -> None:
        # Bounds the memory that callers with many credentials can use.
        if len(self._answers) >= _MAX_ENTRIES:
            self._answers.clear()
        self._answers[key] = time.monotonic() + seconds, answer


class ServerAccess:
    """A server's cache of credentials and accounts, and its call counts.

    Read `known` into a variable before querying, so that results queried before a change are not
    cached after it.
    """

    def __init__(self) -> None:
        self.known = KnownAccess()
        self.counts = BufferedHits()

    def forget(self) -> None:
        """Clear the cache; call counts stay."""
        self.known = KnownAccess()

    def follow_changes(self, changed: Callable[[], None]) -> Subscription:
        """Clear the cache when another process reports a change, then call `changed` from the listening thread."""

        def forget() -> None:
            self.forget()
            changed()

        return listen(CHANNEL, lambda payload: forget(), lost=forget)


def notify_access_change(*_: object) -> None:
    """Notify every server of a change to an account or credential, with the caller's transaction."""
    notify(CHANNEL)
