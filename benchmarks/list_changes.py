"""New words for the posts that lists and feeds show: what shows these was never made before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import psycopg

from benchmarks.floor_sql import LIVE

Change = Callable[[int], None]
"""Gives all posts of the first lists the words of a number."""
_NEWEST: Final = f"""
    SELECT id FROM content_post WHERE {LIVE} AND locale = 'en' AND id <> ALL(%s)
"""  # noqa: S608  # no input
_SHOWN: Final = f"""
    ({_NEWEST} ORDER BY updated_at DESC LIMIT 20)
    UNION ({_NEWEST} AND type = 'blog' ORDER BY published_at DESC LIMIT 20)
"""
_CHANGE: Final = """
    UPDATE content_post SET title = split_part(title, ' #', 1) || ' #' || %(number)s,
        excerpt = split_part(excerpt, ' #', 1) || ' #' || %(number)s
    WHERE id = ANY(%(ids)s)
"""


@contextmanager
def list_changes(url: str, but: Sequence[str]) -> Iterator[Change]:
    """The change of the English lists of a site. Posts in `but` keep their words, for answers that stay kept.

    It is written past the product: the content version stays, so that nothing else has to be made anew.
    """
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        kept = list(but)
        ids = [id_ for (id_,) in connection.execute(_SHOWN.encode(), (kept, kept))]

        def change(number: int) -> None:
            connection.execute(_CHANGE, {"number": str(number), "ids": ids})

        yield change
