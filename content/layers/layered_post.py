"""A post with all that its layers are made of, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from content.layers.state import Layers, layers_of
from content.models import Draft, Post, PostModule, PostTerm
from content.posts.post_repository import MODULE_COLUMNS, document_of, module_of
from content.posts.queries import reachable_posts, visible_posts, whole_post
from proofroom.core.database.json_text import JSONObject, JSONRows, JSONValue
from proofroom.core.database.statements import Row, Statement, columns_of, instance_from_row
from proofroom.core.json import JsonObject

_HERE: Final = {"post": OuterRef("pk")}
_DRAFT_COLUMNS: Final = ("id", "layer", "version", "is_empty", "base", "document", "marks")


def _listed(rows: QuerySet[Any, Any]) -> Cast:
    return Cast(JSONRows(rows), TextField())


_LAYERED: Final = Statement(
    lambda post_id: (
        reachable_posts()
        .filter(pk=post_id)
        .values(
            *columns_of(Post),
            "author__username",
            module_rows=_listed(
                PostModule.objects.filter(**_HERE)
                .order_by("order_index", "id")
                .values(entry=JSONObject(**{name: name for name in MODULE_COLUMNS}))
            ),
            term_rows=_listed(PostTerm.objects.filter(**_HERE).values(entry=JSONValue("term_id"))),
            draft_rows=_listed(
                Draft.objects.filter(**_HERE).values(
                    entry=JSONObject(**{name: name for name in _DRAFT_COLUMNS})
                )
            ),
            translation_rows=_listed(
                visible_posts()
                .filter(translation_group=OuterRef("translation_group"))
                .exclude(pk=OuterRef("pk"))
                .order_by("locale")
                .values(entry=JSONObject(id="id", locale="locale"))
            ),
        )
    )
)


@dataclass(frozen=True, slots=True)
class LayeredPost:
    """A post, its layers, its translations as id and locale, and the props of the global modules that it places."""

    post: Post
    layers: Layers
    translations: list[tuple[str, str]]
    shared: Mapping[str, JsonObject]


def read_layered_post(post_id: UUID) -> LayeredPost | None:
    """A post that is not in the trash. One statement."""
    rows = _LAYERED.rows(post_id)
    if not rows:
        return None
    row = rows[0]
    post = whole_post(row)
    placed = orjson.loads(row["module_rows"])
    live = document_of(post, map(module_of, placed), orjson.loads(row["term_rows"]))
    drafts = [_draft_of(post, one) for one in orjson.loads(row["draft_rows"])]
    return LayeredPost(
        post=post,
        layers=layers_of(post, live, drafts),
        translations=[(one["id"], one["locale"]) for one in orjson.loads(row["translation_rows"])],
        shared={
            one["instance_id"]: one["instance__props"]
            for one in placed
            if one["instance__scope"] == "global"
        },
    )


def _draft_of(post: Post, row: Row) -> Draft:
    """A draft to be read; what is left out of it loads when it is asked for."""
    draft = instance_from_row(Draft, row)
    draft.post = post
    return draft
