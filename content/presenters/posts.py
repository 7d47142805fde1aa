"""Posts as the wire has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from typing_extensions import TypedDict

from content.document import PostDocument
from content.models import Post
from content.post_fields import LISTED_FIELDS
from content.posts.post_repository import fields_of, format_time
from content.presenters.modules import Index, Wire, live_module
from proofroom.core.api.answer import Person
from proofroom.core.database.statements import Row

_LISTED: Final = (
    *((name, name) for name in ("id", "type", "locale", "slug", "title")),
    *((field.name, field.column) for field in LISTED_FIELDS),
    ("status", "status"),
    ("url", "path"),
    ("parentId", "parent_id"),
    ("orderIndex", "order_index"),
    ("featuredMediaId", "featured_media_id"),
    ("version", "version"),
    ("createdAt", "created_at"),
    ("updatedAt", "updated_at"),
    ("publishedAt", "published_at"),
)
"""The names on the wire of `queries.LIST_COLUMNS`, with the columns, in the order that lists answer them."""


class LayerStateAnswer(TypedDict):
    """Whether something waits in a layer, and who was there last."""

    exists: bool
    updatedAt: datetime | None
    updatedBy: Person | None
    version: Index


class LayersAnswer(TypedDict):
    """What waits."""

    review: LayerStateAnswer
    aiReview: LayerStateAnswer


class TranslationAnswer(TypedDict):
    """The same post in another language."""

    id: UUID
    locale: str


def listed_post(row: Row, modules: Iterable[Row] | None, layers: Mapping[str, Row] | None) -> Wire:
    """A post in a list. `layers` None leaves out what is staged."""
    wire: Wire = {name: row[column] for name, column in _LISTED}
    if modules is not None:
        wire["modules"] = [live_module(module) for module in modules]
    if layers is not None:
        wire["layers"] = layer_states(layers)
    return wire


def layer_states(layers: Mapping[str, Row]) -> LayersAnswer:
    """What waits in the layers, by their rows."""
    return {
        "review": _layer_state(layers.get("review")),
        "aiReview": _layer_state(layers.get("ai-review")),
    }


def _layer_state(row: Row | None) -> LayerStateAnswer:
    if row is None:
        return {"exists": False, "updatedAt": None, "updatedBy": None, "version": 0}
    return {
        "exists": True,
        "updatedAt": row["updated_at"],
        "updatedBy": {"id": row["updated_by_id"], "username": row["updated_by__username"]},
        "version": row["version"],
    }


def post_fields(post: Post) -> Wire:
    """The fields of a post that every reader may see."""
    wire: Wire = {"id": post.pk, "type": post.type, "locale": post.locale, "status": post.status}
    for name, value in fields_of(post).items():
        if not name.startswith("customFields."):
            wire[name] = value
    wire["customFields"] = post.custom_fields
    wire["url"] = post.path
    wire["version"] = post.version
    wire["createdAt"] = format_time(post.created_at)
    wire["updatedAt"] = format_time(post.updated_at)
    wire["publishedAt"] = format_time(post.published_at)
    return wire


def translations(rows: Iterable[Row]) -> list[TranslationAnswer]:
    """The other posts of a translation group."""
    return [{"id": row["id"], "locale": row["locale"]} for row in rows]


def canonical(post: Post, document: PostDocument, others: Iterable[Row]) -> Wire:
    """The canonical export: the document with the status and the translations beside it."""
    wire: Wire = dict(document.to_json())
    wire["post"] = {**wire["post"], "status": post.status}
    wire["translations"] = [{"id": str(row["id"]), "locale": row["locale"]} for row in others]
    return wire
