"""`/api/public/media/:id`: a file that published content uses."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.delivery.global_modules import ALT_TEXT_PARAMETERS
from content.api.delivery.posts import DeliveredMediaAnswer
from content.api.delivery.viewset import DeliveredViewSet
from content.models import PostModule
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import shown_posts
from media.models import LIVE, Asset, MediaReference
from media.presenters import ASSET_COLUMNS, delivered_asset
from proofroom.core.api.answer import described
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import parameter_names
from proofroom.core.caching.content_tags import (
    ANY_TYPE,
    depend_on,
    tag_of_list,
    tag_of_media,
)
from proofroom.core.database.compiled_queries import CompiledQuery, instance_from_row
from proofroom.core.errors import NotFound
from proofroom.core.validation.input_validation import parse_uuid


class DeliveredFileAnswer(DeliveredMediaAnswer):
    """A file that published content uses."""

    id: UUID


def _is_in_use() -> Exists:
    """Return a filter for files that visitors can see: in a post, or in a global module that a post shows."""
    placed = PostModule.objects.filter(post__in=shown_posts(), instance__scope="global")
    live = MediaReference.objects.filter(asset=OuterRef("pk"), layer=LIVE)
    return Exists(
        live.filter(
            Q(holder_kind=POST, holder_id__in=shown_posts().values("pk"))
            | Q(holder_kind=GLOBAL, holder_id__in=placed.values("instance_id"))
        )
    )


_ASSET: Final = CompiledQuery(
    lambda asset_id: Asset.objects.filter(_is_in_use(), pk=asset_id).values("id", *ASSET_COLUMNS)
)


class PublicMediaViewSet(DeliveredViewSet):
    """Files of published content."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "retrieve": parameter_names(ALT_TEXT_PARAMETERS)
    }

    @extend_schema(parameters=ALT_TEXT_PARAMETERS, responses=described(DeliveredFileAnswer))
    def retrieve(self, request: Request, asset_id: str) -> Response:
        """Return a file that published content uses. Any other is 404."""
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        id_ = parse_uuid(asset_id)
        rows = _ASSET.rows(id_) if id_ is not None else []
        if not rows:
            raise NotFound("No published content uses a file with that ID.")
        asset = instance_from_row(Asset, rows[0])
        # A change of any post may be the end of its last use.
        depend_on(tag_of_media(asset.pk), tag_of_list(ANY_TYPE))
        return Response(
            {
                "id": asset.pk,
                **delivered_asset(asset, locale or settings.CMS_ENV.default_locale),
            }
        )
