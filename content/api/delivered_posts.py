"""Published posts of the delivery API.

The database builds the JSON of a post and everything in it in one statement, so Python neither parses it nor
creates model instances.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import models
from django.db.models import F, OuterRef, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from content.document.post_fields import POST_FIELDS
from content.models import Post, PostModule, PostTerm
from content.store.ai_disclosure import (
    TEXT_COLUMNS,
    AiDisclosure,
    build_disclosure,
    disclosure_columns,
    texts_of,
)
from content.store.arms import PLACE_COLUMNS, parse_arms, running_arms
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import WIRE_MODULE, published_posts
from media.models import LIVE, Asset, MediaReference
from media.presenters import delivered_asset
from proofroom.core.database.compiled_queries import CompiledQuery, Row, instance_from_row
from proofroom.core.database.json_text import JSONObject, JSONRows, JSONValue
from proofroom.core.json import JsonObject

COLUMNS: Final[Mapping[str, str]] = {
    **{name: name for name in ("id", "type", "locale", "status")},
    **{field.name: field.column for field in POST_FIELDS.values() if field.delivered},
    "customFields": "custom_fields",
    "url": "path",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "publishedAt": "published_at",
}
"""Columns of a post by API name."""
ASSET_COLUMNS: Final = (
    "file", "mime", "status", "width", "height", "variants", "dark_variants", "focal_x", "focal_y",
    "alt_text", "alt_texts", "is_decorative",
)  # fmt: skip
_NONE: Final = "[]"
_MOST_SHAPES: Final = 100
"""Number of field sets whose compiled statements are cached."""


@dataclass(frozen=True, slots=True)
class RenderedAnswer:
    """The body of an answer, and the cache tags of its contents."""

    body: bytes
    depends_on: frozenset[str]


def render_post(
    post_id: UUID,
    fields: Collection[str] | None = None,
    variation: str = "",
) -> RenderedAnswer | None:
    """Return a published post by id, or its running variation with this name; None if there is none.

    Reads only the columns for `fields`. One statement, two with a variation.
    """
    shape = None if fields is None else frozenset(fields)
    rows = _published(shape, "pk").rows(post_id)
    return _render(rows[0], shape, variation) if rows else None


def render_post_at(path: str, variation: str = "") -> RenderedAnswer | None:
    """Return the published post at a path, as `render_post` does."""
    rows = _published(None, "path").rows(path)
    return _render(rows[0], None, variation) if rows else None


def render_posts(
    post_ids: Sequence[UUID], fields: Collection[str] | None = None
) -> dict[UUID, RenderedAnswer]:
    """Return published posts by id, as `render_post` does. Absent ids are left out. One statement."""
    shape = None if fields is None else frozenset(fields)
    rows = _published_many(shape).rows(list(post_ids))
    return {row["original_id"]: _render(row, shape, "") for row in rows}


def _render(row: Row, fields: frozenset[str] | None, variation: str) -> RenderedAnswer:
    arms = parse_arms(row["arms"])
    arm = next((arm for arm in arms if arm.name == variation), None)
    # The variation may have been stopped between the two statements; then the original is shown.
    rows = _variation(fields).rows(arm.post_id) if arm is not None else []
    content_row = rows[0] if rows else row
    members: dict[str, Any] = {}
    if arms:
        members["variations"] = [
            {"id": arm.post_id, "variation": arm.name, "weight": arm.weight} for arm in arms
        ]
    if arm is not None and rows:
        members |= {"variationOf": row["original_id"], "variation": arm.name}
    members["media"] = media = _media(content_row)
    if content_row.get("ai_origins") is not None:
        members["disclosure"] = _disclosure(content_row)
    if fields is not None:
        members = {name: value for name, value in members.items() if name in fields}
    body: bytes = content_row["body"].encode()
    if members:
        # The body is spliced, not parsed: its closing brace is replaced by the members.
        body = body[:-1] + (b"," if body != b"{}" else b"") + orjson.dumps(members)[1:]
    tags = [f"post:{row['original_id'].hex}", f"group:{row['group_id'].hex}"]
    tags += [f"post:{arm.post_id.hex}" for arm in arms]
    tags += [f"media:{UUID(id_).hex}" for id_ in media]
    return RenderedAnswer(body, frozenset(tags))


def _disclosure(row: Row) -> JsonObject:
    """Return the AI work in a post that discloses it. Parses the body, or the texts if `fields` left them out."""
    post = orjson.loads(row["texts"] if row.get("texts") is not None else row["body"])
    texts = texts_of(
        post["type"],
        {name: post[name] for name in TEXT_COLUMNS},
        post["customFields"],
        [
            (one["postModuleId"], one["type"], {**one["props"], **(one["overrides"] or {})})
            for one in post["modules"]
            if one["scope"] != "global"
        ],
    )
    found = build_disclosure(row["ai_origins"], row["ai_show"], texts) or AiDisclosure(0, "none")
    return {
        "share": found.share,
        "kind": found.kind,
        "digitalSourceType": found.digital_source_type or None,
        "approvedBy": {"role": found.role, "name": found.name or None} if found.role else None,
    }


def _media(row: Row) -> dict[str, JsonObject]:
    """Return the files named by a row, by id, in the row's language."""
    found: dict[str, JsonObject] = {}
    for text in (row.get("own_media", _NONE), row.get("shared_media", _NONE)):
        for entry in orjson.loads(text) if text != _NONE else ():
            found[entry["id"]] = delivered_asset(
                instance_from_row(Asset, entry), row["post_locale"]
            )
    return found


@lru_cache(maxsize=_MOST_SHAPES)
def _published(fields: frozenset[str] | None, column: str) -> CompiledQuery:
    """Return the statement for a published post by `column`, with its running variations."""
    return CompiledQuery(
        lambda value: (
            published_posts()
            .filter(**{column: value})
            .order_by("pk")
            .values(**_written(fields), **_identity())[:1]
        )
    )


@lru_cache(maxsize=_MOST_SHAPES)
def _published_many(fields: frozenset[str] | None) -> CompiledQuery:
    """Return the statement for published posts by id, with their running variations."""
    return CompiledQuery(
        lambda post_ids: (
            published_posts()
            .filter(pk__in=post_ids)
            .order_by()
            .values(**_written(fields), **_identity())
        )
    )


def _identity() -> dict[str, Any]:
    return {"original_id": F("pk"), "group_id": F("translation_group"), "arms": running_arms()}


@lru_cache(maxsize=_MOST_SHAPES)
def _variation(fields: frozenset[str] | None) -> CompiledQuery:
    """Return the statement for a running variation with its own content at the original's place."""
    return CompiledQuery(
        lambda post_id: (
            Post.objects.running()
            .filter(pk=post_id)
            .values(**_written(fields, original="variation_of"))
        )
    )


def _written(fields: frozenset[str] | None, original: str = "") -> dict[str, Combinable]:
    """Return expressions for `body`, language and files of a post. `original` is the relation to the post of its
    place."""
    prefix = f"{original}__" if original else ""
    values: dict[str, str | Combinable] = {
        name: f"{prefix}{column}" if column in PLACE_COLUMNS else column
        for name, column in COLUMNS.items()
    }
    others = published_posts().filter(translation_group=OuterRef(f"{prefix}translation_group"))
    values["taxonomyTermIds"] = JSONRows(
        PostTerm.objects.filter(post_id=OuterRef("pk"))
        .order_by("term_id")
        .values(entry=JSONValue("term_id"))
    )
    values["translations"] = JSONRows(
        others.exclude(pk=OuterRef(f"{original}_id" if original else "pk"))
        .order_by("locale")
        .values(entry=JSONObject(id="id", locale="locale"))
    )
    values["modules"] = JSONRows(
        _placements().order_by("order_index", "id").values(entry=JSONObject(**WIRE_MODULE))
    )
    told: dict[str, Combinable] = {}
    if fields is None or "disclosure" in fields:
        told = disclosure_columns()
        if fields is not None:
            # The share is of the whole text, which these fields may not contain.
            names = ("type", "customFields", "modules", *TEXT_COLUMNS)
            whole = JSONObject(**{name: values[name] for name in names})
            told["texts"] = Cast(whole, TextField())
    if fields is not None:
        values = {name: value for name, value in values.items() if name in fields}
    found: dict[str, Combinable] = {
        "body": Cast(JSONObject(**values), TextField()),
        "post_locale": F("locale"),
        **told,
    }
    if fields is None or "media" in fields:
        # `_references` uses this inside another subquery, so the post is two levels up.
        shared = _placements(OuterRef(OuterRef("pk"))).filter(instance__scope="global")
        found["own_media"] = _references(POST, holder_id=OuterRef("pk"))
        found["shared_media"] = _references(GLOBAL, holder_id__in=shared.values("instance_id"))
    return found


def _placements(post_id: OuterRef | None = None) -> models.QuerySet[PostModule]:
    return PostModule.objects.filter(post_id=post_id or OuterRef("pk"))


def _references(holder_kind: str, **holders: Any) -> Cast:
    """Return the files used by live holders of a kind, as JSON."""
    found = MediaReference.objects.filter(holder_kind=holder_kind, layer=LIVE, **holders)
    columns = {name: f"asset__{name}" for name in ASSET_COLUMNS}
    entries = found.order_by("asset_id").values(entry=JSONObject(id="asset_id", **columns))
    return Cast(JSONRows(entries), TextField())
