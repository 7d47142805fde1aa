"""`/api/public/globals/:slug`: a global module of a published page, for frontends that place it themselves."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content.api.cached_delivery import DeliveredViewSet
from content.api.delivered_posts import parse_assets, referenced_assets
from content.api.delivery import DeliveredMediaAnswer
from content.models import ModuleInstance, PostModule
from content.presenters.posts import JsonText
from content.store.media_usage import GLOBAL
from content.store.post_queries import shown_posts
from media.presenters import delivered_asset
from proofroom.core.api.answer import described
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import choice_schema, parameter_names, query_parameter
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.errors import NotFound

ALT_TEXT_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "The language of alternative texts; the default locale without it.",
        choice_schema(*settings.CMS_ENV.locales),
    )
]
_GLOBAL: Final = CompiledQuery(
    lambda slug: (
        ModuleInstance.objects.globals()
        .filter(
            Exists(PostModule.objects.filter(instance=OuterRef("pk"), post__in=shown_posts())),
            global_slug=slug,
        )
        .values(
            "id",
            "type",
            "global_slug",
            "props",
            own_media=referenced_assets(GLOBAL, holder_id=OuterRef("pk")),
        )
    )
)


class DeliveredGlobalAnswer(TypedDict):
    """A global module, with its files by id. Posts may override its props; these are its own."""

    id: UUID
    slug: str
    type: str
    props: JsonText
    media: Annotated[
        dict[str, DeliveredMediaAnswer], Field(description="The files of the props, by id.")
    ]


class PublicGlobalViewSet(DeliveredViewSet):
    """Global modules."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "retrieve": parameter_names(ALT_TEXT_PARAMETERS)
    }

    @extend_schema(parameters=ALT_TEXT_PARAMETERS, responses=described(DeliveredGlobalAnswer))
    def retrieve(self, request: Request, global_slug: str) -> Response:
        """Return a global module that a published page shows. Any other is 404."""
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        # PostgreSQL raises an error for NUL in a parameter.
        rows = _GLOBAL.rows(global_slug) if "\x00" not in global_slug else []
        if not rows:
            raise NotFound("No published page shows a global module of that slug.")
        row = rows[0]
        return Response(
            {
                "id": row["id"],
                "slug": row["global_slug"],
                "type": row["type"],
                "props": row["props"],
                "media": {
                    id_: delivered_asset(asset, locale or settings.CMS_ENV.default_locale)
                    for id_, asset in parse_assets(row["own_media"]).items()
                },
            }
        )
