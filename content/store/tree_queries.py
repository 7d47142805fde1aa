"""Queries for the descendants of a page, each one statement for any depth and width.

They exclude pages in the trash with their descendants, and variations.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import connection

from content.models import Post
from content.models.post import MAX_DEPTH

# Recursive SQL, because PostgreSQL would plan a chain of joins for minutes. The limit of levels also ends a cycle.
_BELOW: Final = """
    WITH RECURSIVE below (id, level) AS (
        SELECT id, 0 FROM content_post WHERE id = %s
        UNION ALL
        SELECT child.id, below.level + 1
        FROM content_post child JOIN below ON child.parent_id = below.id
        WHERE below.level < %s AND child.deleted_at IS NULL AND child.variation_of_id IS NULL
        {condition}
    )
"""
_ANY: Final = _BELOW.format(condition="")
_APPROVED: Final = _BELOW.format(condition="AND NOT child.is_placeholder")
_IDS: Final = "SELECT id FROM below WHERE level > 0 ORDER BY level, id LIMIT %s"
_COUNTS: Final = """
    SELECT count(*), count(post.published_at)
    FROM below JOIN content_post post ON post.id = below.id
    WHERE below.level > 0
"""
_AT_LEVEL: Final = "SELECT 1 FROM below WHERE level = %s LIMIT 1"
_KEY: Final = Post._meta.pk


def descendant_ids(post_id: UUID, *, most: int, is_approved: bool = False) -> list[UUID]:
    """Return the ids of at most `most` descendants of a page, parents first.

    `is_approved`: exclude pages that an agent proposed and no reviewer approved, with their descendants.
    """
    sql = (_APPROVED if is_approved else _ANY) + _IDS
    return [_KEY.to_python(id_) for (id_,) in _fetch(sql, _key_of(post_id), MAX_DEPTH, most)]


def count_descendants(post_id: UUID) -> tuple[int, int]:
    """Return how many descendants a page has, and how many of them were ever published."""
    [(total, published)] = _fetch(_ANY + _COUNTS, _key_of(post_id), MAX_DEPTH)
    return int(str(total)), int(str(published))


def has_descendants_at_level(post_id: UUID, levels: int) -> bool:
    """Return whether a page exists this number of levels below a page."""
    return bool(_fetch(_ANY + _AT_LEVEL, _key_of(post_id), levels, levels))


def _key_of(post_id: UUID) -> UUID | str:
    # SQLite stores UUIDs as text.
    key: UUID | str = _KEY.get_db_prep_value(post_id, connection)
    return key


def _fetch(sql: str, *values: UUID | str | int) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
