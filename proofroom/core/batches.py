"""Iteration over rows in batches that fit into one statement and into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
BATCH_SIZE: Final = 500


def batches(rows: Iterable[T], size: int = BATCH_SIZE) -> Iterator[list[T]]:
    """Yield the rows in lists of at most `size`, consuming the input lazily."""
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part
