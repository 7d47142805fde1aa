"""Calling a subscriber, so that what it runs into ends nobody else's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import OperationalError, transaction

from proofroom.core.models import Event
from proofroom.core.outbox.subscribers import Subscriber

logger = logging.getLogger(__name__)
_is_shared: ContextVar[bool] = ContextVar("is_shared", default=False)


class NeedsOwnTransaction(Exception):
    """A subscriber wants to be told of this post in a round of its own."""


def require_own_transaction() -> None:
    """To be called by a subscriber before it locks the post, or writes a row that refers to it.

    Else it would hold one post while it waits for another one, and a writer of both might wait for it.
    """
    if _is_shared.get():
        raise NeedsOwnTransaction


@contextmanager
def transaction_of(posts: int) -> Iterator[None]:
    """In the block, subscribers are told of so many posts in one transaction."""
    token = _is_shared.set(posts > 1)
    try:
        yield
    finally:
        _is_shared.reset(token)


def call_inside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Tell a subscriber inside the transaction. What one that fails wrote is undone, and nothing else."""
    try:
        with transaction.atomic():
            subscriber.call(event)
    except NeedsOwnTransaction:
        raise
    except OperationalError as error:
        logger.info("%s is told of %s later: %s", subscriber.id, event, error)
        return False
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True


def call_outside_transaction(subscriber: Subscriber, event: Event) -> bool:
    """Tell a subscriber outside any transaction. Answers whether it took it."""
    try:
        subscriber.call(event)
    except Exception:
        logger.exception("%s failed on %s", subscriber.id, event)
        return False
    return True
