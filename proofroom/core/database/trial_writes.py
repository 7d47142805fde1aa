"""Writes that only the code in a block sees: reads show what they would make, and they are never committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

_is_active: ContextVar[bool] = ContextVar("trial_writes", default=False)


def in_trial() -> bool:
    """Return whether reads may see what is never committed. No cache may store or answer them, and no replica."""
    return _is_active.get()


@contextmanager
def trial_writes() -> Iterator[None]:
    """Roll back all writes of the block at its end. In the block, caches of content and replicas are not used."""
    token = _is_active.set(True)
    try:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
    finally:
        _is_active.reset(token)
