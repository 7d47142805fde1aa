"""What a server knows of credentials and accounts: believed for a moment, and forgotten when one of them changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, Final

from proofroom.core.caching.hit_batches import HitBatches
from proofroom.core.database_notifications import Subscription, listen, notify

CHANNEL: Final = "mcp_access"
_MAX_ENTRIES: Final = 10_000


class KnownAccess:
    """Answers by key. Threads share it: each step is one operation of a dict."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[float, Any]] = {}

    def find(self, key: Hashable) -> Any:
        """The answer of the key; None where there is none, or it is too old."""
        found = self._answers.get(key)
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def keep(self, key: Hashable, answer: object, seconds: float) -> None:
        if len(self._answers) >= _MAX_ENTRIES:
            self._answers.clear()
        self._answers[key] = time.monotonic() + seconds, answer


class ServerAccess:
    """What one server knows of credentials: who they stand for, and how often they called.

    Take `known` before reading, so that what is forgotten meanwhile is not kept.
    """

    def __init__(self) -> None:
        self.known = KnownAccess()
        self.counts = HitBatches()

    def forget(self) -> None:
        """Read everything anew from now on; calls stay counted."""
        self.known = KnownAccess()

    def follow_changes(self, changed: Callable[[], None]) -> Subscription:
        """Forget when a process tells of a change, then call `changed`, from the thread that listens."""

        def forget() -> None:
            self.forget()
            changed()

        return listen(CHANNEL, lambda payload: forget(), lost=forget)


def tell_of_change(*_: object) -> None:
    """Tell every server that an account or a credential changes with the caller's transaction."""
    notify(CHANNEL)
