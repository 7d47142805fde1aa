"""`/api/media`: files with their metadata. Uploads are in `media.api.files`."""

from __future__ import annotations

from typing import ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import AliasChoices, Field
from rest_framework.request import Request
from rest_framework.response import Response

from media import queries, usage_sources
from media.metadata import CATEGORIES_MAX
from media.models import AssetStatus
from media.presenters import Media, captions_of, present_asset
from media.services.files import delete_asset
from media.services.player import check_captions, set_captions, set_poster
from media.services.update import find_asset, update_asset
from media.services.variants import request_variants
from proofroom.core.api.answer import Answer, described, list_of
from proofroom.core.api.body import Body, Id, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import BooleanText, parse_boolean, read_query
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet

MIME: Final = r"^[a-z]+(/[a-z0-9.+-]+)?$"
ORDERING: Final = f"^-?({'|'.join(queries.ORDERINGS)})$"
PATHS: Final = {"media_id": UUID_TEXT}
LIST_PARAMETERS: Final = [
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
_FILES: Final = list_of(described(Media), "Files.")
FORCE: Final = query_parameter(
    "force", "Delete it although it is in use.", choice_schema("true", "false")
)
_PLACES: Final = list_of(
    described(usage_sources.MediaPlace),
    "The places that use a file.",
)


class MediaGoneAnswer(Answer):
    """The deleted file."""

    id: UUID


class MediaCategoryAnswer(Answer):
    """A category."""

    name: str
    count: int = Field(ge=1)


class FocalPointChange(Body):
    """Fractions from the left and the top."""

    x: float = Field(ge=0, le=1)
    y: float = Field(ge=0, le=1)


class MediaChanges(Body):
    """Changes of a file; absent keys stay. Other keys of a GET response are ignored."""

    alt_text: Words | None = Field(
        None,
        alias="alt_text",
        validation_alias=AliasChoices("alt_text", "altText"),
        max_length=2000,
        description="What the image shows, in at most 500 characters. `altText` is also accepted.",
    )
    description: Words | None = Field(None, max_length=8000)
    categories: list[Words] | None = Field(None, max_length=CATEGORIES_MAX)
    focal_point: FocalPointChange | None = Field(None, description="Null means the centre.")
    poster: Id | None = Field(
        None, description="The image shown before a video or audio file starts. Null removes it."
    )
    captions: dict[str, Words | None] | None = Field(
        None,
        max_length=50,
        description="WebVTT texts by language, which replace those of these languages; null or an empty text "
        "removes one. The URL of a GET response leaves it unchanged.",
    )
    ignored_keys: ClassVar[frozenset[str]] = frozenset(
        Media.__annotations__.keys()
        - {"alt_text", "description", "categories", "focalPoint", "poster", "captions"}
    )


class VariantsAsked(Body):
    """The theme of the variants to make: `light` makes the usual ones again."""

    theme: Literal["light", "dark"]


class ListQuery(Body):
    """Filters of the list."""

    category: Words | None = Field(None, max_length=200)
    search: Words | None = Field(None, max_length=200)
    mime: str | None = Field(None, max_length=100, pattern=MIME)
    status: Literal["processing", "ready", "failed"] | None = None
    used: BooleanText | None = None
    ordering: str | None = Field(None, pattern=ORDERING)


class DeleteQuery(Body):
    """The query of a deletion: `force` also deletes files in use."""

    force: BooleanText | None = None


class AssetViewSet(ApiViewSet):
    """Files: list, read, describe, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "media.view",
        "categories": "media.view",
        "retrieve": "media.view",
        "where_used": "media.view",
        "update": "media.edit",
        "variants": "media.edit",
        "destroy": "media.delete",
    }
    conditional = frozenset({"list", "retrieve", "categories"})
    path_schemas = PATHS

    @extend_schema(parameters=LIST_PARAMETERS, responses=_FILES)
    def list(self, request: Request) -> Response:
        """List files, newest first; with a search, best match first."""
        page = page_of(request)
        wanted = read_query(request, ListQuery)
        rows = queries.list_assets(
            actor=self.actor,
            category=wanted.category or "",
            search=wanted.search or "",
            mime=wanted.mime or "",
            status=wanted.status or "",
            is_used=parse_boolean(wanted.used),
            ordering=wanted.ordering or "",
        )
        return Response(
            page.envelope([present_asset(row) for row in rows[page.slice]], rows.count())
        )

    @extend_schema(parameters=PAGES, responses=list_of(MediaCategoryAnswer, "Categories by name."))
    def categories(self, request: Request) -> Response:
        """List the categories in use by name, with their number of files."""
        page = page_of(request)
        found, total = queries.category_counts(self.actor, page.slice.start, page.slice.stop)
        counted = [MediaCategoryAnswer(name=name, count=number) for name, number in found]
        return Response(page.envelope(counted, total))

    @extend_schema(responses=described(Media))
    def retrieve(self, request: Request, media_id: str) -> Response:
        """Return a file. Its variants exist once `status` is `ready`."""
        return Response(present_asset(find_asset(media_id, self.actor)))

    @extend_schema(
        parameters=PAGES,
        responses=_PLACES,
    )
    def where_used(self, request: Request, media_id: str) -> Response:
        """List the places that use a file: live, staged, and in global modules; without posts in the trash."""
        page = page_of(request)
        asset = find_asset(media_id, self.actor)
        rows = usage_sources.visible_uses_of(asset, self.actor)
        places = usage_sources.present_places(rows[page.slice], self.actor)
        return Response(page.envelope(places, rows.count()))

    @extend_schema(request=MediaChanges, responses=described(Media))
    def update(self, request: Request, media_id: str) -> Response:
        """Change the metadata of a file; pages show it immediately."""
        body = read_body(request, MediaChanges)
        point = body.focal_point
        present = captions_of(find_asset(media_id, self.actor)) if body.captions else {}
        captions = {
            locale: text or ""
            for locale, text in (body.captions or {}).items()
            if not text or text != present.get(locale)
        }
        # Checked first, so that wrong captions change nothing else.
        check_captions(captions)
        asset = update_asset(
            asset_id=media_id,
            actor=self.actor,
            alt_text=body.alt_text,
            description=body.description,
            categories=body.categories,
            focal_point=((point.x, point.y) if point else None)
            if "focal_point" in body.model_fields_set
            else ...,
        )
        if "poster" in body.model_fields_set:
            asset = set_poster(asset_id=media_id, poster_id=body.poster, actor=self.actor)
        if captions:
            asset = set_captions(asset_id=media_id, captions=captions, actor=self.actor)
        return Response(present_asset(asset))

    @extend_schema(request=VariantsAsked, responses={202: described(Media)})
    def variants(self, request: Request, media_id: str) -> Response:
        """Generate the variants in a worker. `variants` and `darkVariants` contain them afterwards."""
        body = read_body(request, VariantsAsked)
        asset = request_variants(asset_id=media_id, theme=body.theme, actor=self.actor)
        return Response(present_asset(asset), status=202)

    @extend_schema(parameters=[FORCE], responses={200: MediaGoneAnswer})
    def destroy(self, request: Request, media_id: str) -> Response:
        """Delete a file. 409 `media_in_use` with the places in `details` if in use, unless forced."""
        force = parse_boolean(read_query(request, DeleteQuery).force) or False
        asset = find_asset(media_id, self.actor)
        delete_asset(asset_id=asset.pk, actor=self.actor, force=force)
        return Response(MediaGoneAnswer(id=asset.pk))
