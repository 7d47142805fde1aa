"""Messages to workers. A row is the truth and a message only a wake-up, so a broker that is down fails nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction

logger = logging.getLogger(__name__)
_LOOK_BACK = 200


def after_commit(send: Callable[[], object], what: str) -> None:
    """Queue a task once the transaction stands, one for each `what`. Where the broker is down, the sweep finds its
    row."""
    waiting = transaction.get_connection().run_on_commit
    if any(getattr(call, "what", None) == what for _, call, _ in waiting[-_LOOK_BACK:]):
        return

    def try_to_send() -> None:
        try:
            send()
        except Exception:  # whatever the broker's library raises
            logger.warning("could not queue %s; the sweep will", what, exc_info=True)

    try_to_send.what = what  # type: ignore[attr-defined]
    transaction.on_commit(try_to_send, robust=True)
