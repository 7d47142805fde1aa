"""The functions of the database that write what the role of agents cannot write itself (`content.lane_rights`).

Callers check `is_lane()` first: any other process writes the rows directly.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

import orjson
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models

from content.models import Draft, Post, Revision
from proofroom.core.caching.content_version_cache import lease
from proofroom.core.database.compiled_queries import fetch
from proofroom.core.json import JsonObject
from proofroom.core.lane.session import SCHEMA

_encode = DjangoJSONEncoder().default


def lock_posts(ids: Collection[UUID]) -> None:
    """Lock posts until the end of the transaction, in the order of their ids."""
    # Locking takes the right to change the row, which the role does not have.
    fetch(connection, f"SELECT {SCHEMA}.lock_posts(%s::uuid[])", [list(ids)])


def make_proposed_post(post: Post, revision: Revision, tags: Collection[str]) -> bool:
    """Insert a proposed post with its first revision, and change the content version.

    Return False if another post has its place.
    """
    sql = f"SELECT {SCHEMA}.make_proposed_post(%s::jsonb, %s::jsonb, %s)"
    [(is_made,)] = fetch(connection, sql, [_row(post), _row(revision), " ".join(sorted(tags))])
    for row in (post, revision) if is_made else ():
        row._state.adding, row._state.db = False, connection.alias
    lease.end_on_commit()
    return bool(is_made)


def submit(draft: Draft, base: JsonObject, document: JsonObject) -> None:
    """Store the draft of Review. `base` and `document` are its own, also if it is empty."""
    sql = f"SELECT {SCHEMA}.submit(%s, %s::jsonb, %s::jsonb, %s::jsonb, %s)"
    values = [_text(base), _text(document), _text(draft.marks), draft.updated_by_id]
    fetch(connection, sql, [draft.post_id, *values])
    stored = Draft.objects.get(post_id=draft.post_id, layer=draft.layer)
    draft.__dict__.update(stored.__dict__)


def _row(row: models.Model) -> str:
    values: dict[str, object] = {}
    for field in row._meta.concrete_fields:
        values[str(field.column)] = field.pre_save(row, add=True)
    return _text(values)


def _text(value: object) -> str:
    return orjson.dumps(value, default=_encode, option=orjson.OPT_NON_STR_KEYS).decode()
