"""A post with all that its layers are made of, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import F, OuterRef

from content.document import ModuleDocument
from content.layers.state import Layers, layers_of
from content.models import Draft, Post, PostModule, PostTerm
from content.posts.post_repository import document_of
from content.posts.queries import reachable_posts, visible_posts, whole_post
from proofroom.core.database.json_rows import ListedRows
from proofroom.core.database.statements import Row, Statement, columns_of, instance_from_row
from proofroom.core.json import JsonObject

_HERE: Final = {"post": OuterRef("pk")}
_LAYERED: Final = Statement(
    lambda post_id: (
        reachable_posts()
        .filter(pk=post_id)
        .values(
            *columns_of(Post),
            "author__username",
            module_rows=ListedRows(
                PostModule.objects.filter(**_HERE)
                .order_by("order_index", "id")
                .values(
                    module_id=F("id"),
                    placed=F("instance_id"),
                    is_locked=F("locked"),
                    changed=F("overrides"),
                    type=F("instance__type"),
                    scope=F("instance__scope"),
                    slug=F("instance__global_slug"),
                    props=F("instance__props"),
                )
            ),
            term_rows=ListedRows(PostTerm.objects.filter(**_HERE).values(its_id=F("term_id"))),
            draft_rows=ListedRows(
                Draft.objects.filter(**_HERE).values(
                    draft_id=F("id"),
                    of_layer=F("layer"),
                    at_version=F("version"),
                    holds_nothing=F("is_empty"),
                    stands_on=F("base"),
                    says=F("document"),
                    written_by=F("marks"),
                )
            ),
            translation_rows=ListedRows(
                visible_posts()
                .filter(translation_group=OuterRef("translation_group"))
                .exclude(pk=OuterRef("pk"))
                .order_by("locale")
                .values(post_id=F("id"), language=F("locale"))
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
    placed = _listed(row["module_rows"])
    terms = [_id(one["its_id"]) for one in _listed(row["term_rows"])]
    live = document_of(post, [_module_of(one) for one in placed], terms)
    return LayeredPost(
        post=post,
        layers=layers_of(post, live, [_draft_of(post, one) for one in _listed(row["draft_rows"])]),
        translations=[
            (_id(one["post_id"]), one["language"]) for one in _listed(row["translation_rows"])
        ],
        shared={_id(one["placed"]): one["props"] for one in placed if one["scope"] == "global"},
    )


def _listed(text: str | None) -> list[Row]:
    rows: list[dict[str, Any]] = orjson.loads(text) if text else []
    return rows


def _id(text: str) -> str:
    """An id as a document has it, however the database writes it."""
    return str(UUID(text))


def _module_of(row: Row) -> ModuleDocument:
    return ModuleDocument(
        id=_id(row["module_id"]),
        type=row["type"],
        instance_id=_id(row["placed"]),
        scope=row["scope"],
        global_slug=row["slug"],
        locked=bool(row["is_locked"]),
        props=row["props"] if row["scope"] == "local" else {},
        overrides=row["changed"] or {},
    )


def _draft_of(post: Post, row: Row) -> Draft:
    """A draft to be read; what is left out of it loads when it is asked for."""
    draft = instance_from_row(
        Draft,
        {
            "id": row["draft_id"],
            "layer": row["of_layer"],
            "version": row["at_version"],
            "is_empty": bool(row["holds_nothing"]),
            "base": row["stands_on"],
            "document": row["says"],
            "marks": row["written_by"],
        },
    )
    draft.post = post
    return draft
