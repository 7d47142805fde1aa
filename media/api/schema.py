"""The OpenAPI descriptions of media."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from core.api.schema import LOCATION, UUID_TEXT, MetaSchema, choice, query
from core.api.schema import PAGES as PAGES
from media.models import AssetStatus
from media.queries import ORDERINGS

MIME: Final = r"^[a-z]+(/[a-z0-9.+-]+)?$"
ORDERING: Final = f"^-?({'|'.join(ORDERINGS)})$"
PATHS: Final = {"media_id": UUID_TEXT}
LIST: Final = [
    query("category", "Files in this category, by its exact name."),
    query("search", "Words in alt text, description, filename or categories, all of them."),
    query("mime", "`image/png`, or `image` for any image.", {"type": "string", "pattern": MIME}),
    query("status", "How far the variants are.", choice(*AssetStatus.values)),
    query("used", "Whether anything uses the file.", choice("true", "false")),
    query(
        "ordering",
        "`createdAt`, `updatedAt`, `filename` or `size`; with `-` descending.",
        {"type": "string", "pattern": ORDERING},
    ),
    *PAGES,
]
FORCE: Final = [
    query("force", "Delete it although it is in use.", choice("true", "false")),
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


class VariantsSchema(serializers.Serializer[object]):
    """The addresses of WebP images 1600, 800 and 400 pixels wide, or as wide as the file where that is less."""

    large = serializers.CharField(required=False)
    medium = serializers.CharField(required=False)
    small = serializers.CharField(required=False)


class FocalPointSchema(serializers.Serializer[object]):
    """What must stay in sight where an image is cropped: fractions from the left and the top."""

    x = serializers.FloatField(min_value=0, max_value=1)
    y = serializers.FloatField(min_value=0, max_value=1)


class MediaSchema(serializers.Serializer[object]):
    """A file. The names are those that are planned until `status` is `ready`."""

    id = serializers.UUIDField()
    filename = serializers.CharField(help_text="The name that it came with.")
    url = serializers.CharField()
    size = serializers.IntegerField(min_value=0, help_text="Bytes.")
    mime = serializers.CharField()
    variants = VariantsSchema()
    darkVariants = VariantsSchema()
    status = serializers.ChoiceField(choices=AssetStatus.choices)
    alt_text = serializers.CharField(allow_blank=True)
    description = serializers.CharField(allow_blank=True)
    categories = serializers.ListField(child=serializers.CharField())
    width = serializers.IntegerField(allow_null=True, min_value=1)
    height = serializers.IntegerField(allow_null=True, min_value=1)
    focalPoint = FocalPointSchema(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class MediaListSchema(serializers.Serializer[object]):
    """Files."""

    data = MediaSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class MediaCategorySchema(serializers.Serializer[object]):
    """A category."""

    name = serializers.CharField()
    count = serializers.IntegerField(min_value=1)


class MediaCategoryListSchema(serializers.Serializer[object]):
    """Categories by name."""

    data = MediaCategorySchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class MediaPlaceSchema(serializers.Serializer[object]):
    """A place that uses a file: of a post (`postId`), or of a global module (`globalSlug`)."""

    postId = serializers.UUIDField(allow_null=True)
    globalSlug = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True, help_text="null for who may not see posts.")
    locale = serializers.CharField(allow_null=True)
    layer = serializers.ChoiceField(choices=["live", "review", "ai-review"])
    path = serializers.CharField(help_text="Like modules.<postModuleId>.props.imageId.")


class MediaPlaceListSchema(serializers.Serializer[object]):
    """The places that use a file."""

    data = MediaPlaceSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class MediaGoneSchema(serializers.Serializer[object]):
    """The file that was deleted."""

    id = serializers.UUIDField()
