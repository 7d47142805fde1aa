"""Rows in parts, as many as one statement can name or memory should hold at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
BATCH_SIZE: Final = 500


def batches(rows: Iterable[T], size: int = BATCH_SIZE) -> Iterator[list[T]]:
    """The rows in lists of that many, which are asked for one after the other."""
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part
