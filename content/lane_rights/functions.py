"""The functions of the database that lead agents to live content and Review, each for one thing.

They run with the rights of the tables' owner, so each checks all its arguments: the caller may send any
SQL under the role. Their SQL is in the files beside this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Final

from content.document.document import SCHEMA_VERSION
from content.models import Post
from content.posts.create import PLACEHOLDER_TITLE
from content.store.layer_state import Attribution
from proofroom.core.caching.content_version import MAX_CHANGES_LENGTH, MAX_TAGS_LENGTH
from proofroom.core.database.compiled_queries import new_instance
from proofroom.core.lane import LaneFunction, LaneTrigger
from proofroom.definitions import post_types

_FOLDER: Final = Path(__file__).parent
_OWN_COLUMNS: Final = (
    "id",
    "type",
    "locale",
    "slug",
    "author_id",
    "parent_id",
    "order_index",
    "translation_group",
    "translated_from_id",
    "path",
    "created_at",
    "updated_at",
)
"""Columns of a proposed post that differ between posts. All others have the value of its type's template."""


def _templates() -> str:
    """Return the columns of a proposed post by type, as JSON.

    The review does not show them, so an agent that could write them would publish content without approval.
    """
    found = {}
    for definition in post_types:
        post = new_instance(Post, type=definition.name, title=PLACEHOLDER_TITLE)
        post.is_placeholder = True
        post.custom_fields = definition.default_custom_fields()
        post.robots_json = definition.seo()["robotsJson"]
        found[definition.name] = {
            field.attname: getattr(post, field.attname)
            for field in Post._meta.concrete_fields
            if field.attname not in _OWN_COLUMNS
        }
    return json.dumps(found, sort_keys=True)


def _make_proposed_post() -> str:
    return _filled(
        "make_proposed_post",
        templates=_literal(_templates()),
        own_columns=", ".join(map(_literal, _OWN_COLUMNS)),
        max_tags=str(MAX_TAGS_LENGTH),
        max_changes=str(MAX_CHANGES_LENGTH),
    )


def _is_document() -> str:
    names = [one.name for one in fields(Attribution)]
    return _filled(
        "is_document",
        schema_version=str(SCHEMA_VERSION),
        mark_names=", ".join(map(_literal, names)),
    )


def _filled(name: str, **values: str) -> str:
    """Return the SQL of a function with values for its names in braces."""
    sql = _sql(name)()
    for key, value in values.items():
        sql = sql.replace(f"{{{key}}}", value)
    return sql


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _sql(name: str) -> Callable[[], str]:
    return lambda: (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def _inner(name: str, arguments: str, returns: str) -> LaneFunction:
    """Return a function that the others call, and the role may not."""
    return LaneFunction(
        name, arguments, returns, _sql(name), is_open=False, is_pure=True, language="sql"
    )


FUNCTIONS: Final = (
    LaneFunction("lock_posts", "ids uuid[]", "void", _sql("lock_posts")),
    LaneFunction(
        "make_proposed_post",
        "post jsonb, revision jsonb, tags text",
        "boolean",
        _make_proposed_post,
    ),
    LaneFunction(
        "submit",
        "of_post uuid, new_base jsonb, new_document jsonb, new_marks jsonb, by_user bigint",
        "void",
        _sql("submit"),
    ),
    _inner("parts", "document jsonb", "TABLE(path text, value jsonb)"),
    _inner("marks_at", "marks jsonb, path text", "SETOF jsonb"),
    _inner("is_of_agent", "mark jsonb", "boolean"),
    _inner("common_order", "document jsonb, other jsonb", "text[]"),
    LaneFunction(
        "is_document",
        "document jsonb, marks jsonb",
        "boolean",
        _is_document,
        is_open=False,
        is_pure=True,
        language="sql",
    ),
    LaneFunction("keep_authors", "", "trigger", _sql("keep_authors"), is_open=False),
)
TRIGGERS: Final = (LaneTrigger("proofroom_lane_authors", "content.Draft", "keep_authors"),)
