"""The OpenAPI descriptions of media."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from media.models import AssetStatus
from media.queries import ORDERINGS
from proofroom.core.api.answer import Answer
from proofroom.core.api.schema import LOCATION, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.schema import PAGES as PAGES

MIME: Final = r"^[a-z]+(/[a-z0-9.+-]+)?$"
ORDERING: Final = f"^-?({'|'.join(ORDERINGS)})$"
PATHS: Final = {"media_id": UUID_TEXT}
LIST: Final = [
    query_parameter("category", "Files in this category, by its exact name."),
    query_parameter(
        "search", "Words in alt text, description, filename or categories, all of them."
    ),
    query_parameter(
        "mime", "`image/png`, or `image` for any image.", {"type": "string", "pattern": MIME}
    ),
    query_parameter("status", "How far the variants are.", choice_schema(*AssetStatus.values)),
    query_parameter("used", "Whether anything uses the file.", choice_schema("true", "false")),
    query_parameter(
        "ordering",
        "`createdAt`, `updatedAt`, `filename` or `size`; with `-` descending.",
        {"type": "string", "pattern": ORDERING},
    ),
    *PAGES,
]
FORCE: Final = [
    query_parameter("force", "Delete it although it is in use.", choice_schema("true", "false")),
]
MADE: Final = [LOCATION]
_FILE: Final = {
    "type": "string",
    "format": "binary",
    "description": "JPEG, PNG, WebP, GIF, AVIF or PDF by its content, up to `MEDIA_MAX_BYTES` (20 MB).",
}
UPLOAD: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {
            "file": _FILE,
            "alt_text": {"type": "string", "maxLength": 500},
            "categories": {
                "type": "array",
                "items": {"type": "string", "maxLength": 60},
                "description": "The field as often as there are categories, a JSON list, or one with commas.",
            },
        },
        "required": ["file"],
        "additionalProperties": False,
    }
}
REPLACEMENT: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": _FILE},
        "required": ["file"],
        "additionalProperties": False,
    }
}


class MediaGoneAnswer(Answer):
    """The file that was deleted."""

    id: UUID
