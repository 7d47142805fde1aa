"""New texts for the posts in lists and feeds, so that the responses were never rendered before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import psycopg

from benchmarks.floor_sql import LIVE

Change = Callable[[int], None]
"""A function that sets new texts, with a number in them, for all posts of the first lists."""
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
    """Yield the function for the English lists of a site. Posts in `but` stay unchanged, so that their responses
    stay cached.
    """
    # By SQL, so that the content version stays the same and nothing else is rendered again.
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        excluded = list(but)
        ids = [id_ for (id_,) in connection.execute(_SHOWN.encode(), (excluded, excluded))]

        def change(number: int) -> None:
            connection.execute(_CHANGE, {"number": str(number), "ids": ids})

        yield change
