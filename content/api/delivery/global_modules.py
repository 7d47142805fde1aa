"""`/api/public/globals/:slug`: a global module of a published page, for frontends that place it themselves."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, NotRequired
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content.api.delivery.posts import RICH_TEXT, DeliveredMediaAnswer, text_format_of
from content.api.delivery.viewset import DeliveredViewSet
from content.models import ModuleInstance, PostModule
from content.presenters.delivered_texts import present_global
from content.presenters.posts import JsonText, LinkReferenceAnswer
from content.store.media_usage import GLOBAL
from content.store.post_queries import shown_posts
from content.store.referenced_files import parse_files, referenced_files
from media.presenters import delivered_asset
from proofroom.core.api.answer import described
from proofroom.core.api.permissions import PUBLIC, Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import parameter_names, query_parameter
from proofroom.core.caching.cache_tags import add_cache_tags, global_tag
from proofroom.core.caching.content_tags import (
    ANY_TYPE,
    depend_on,
    tag_of_list,
    tag_of_media,
)
from proofroom.core.database.compiled_queries import CompiledQuery
from proofroom.core.errors import NotFound

ALT_TEXT_PARAMETERS: Final = [
    query_parameter(
        "locale",
        "The language of alternative texts; the default locale without it.",
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
            own_media=referenced_files(GLOBAL, holder_id=OuterRef("pk")),
        )
    )
)


class DeliveredGlobalAnswer(TypedDict):
    """A global module, with its files by id. Posts may override its props; these are its own."""

    id: UUID
    slug: str
    type: str
    props: JsonText
    links: NotRequired[
        Annotated[
            dict[str, LinkReferenceAnswer],
            Field(description="By the path of the link field, like `props.ctaUrl`."),
        ]
    ]
    media: Annotated[
        dict[str, DeliveredMediaAnswer], Field(description="The files of the props, by id.")
    ]


class PublicGlobalViewSet(DeliveredViewSet):
    """Global modules."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": PUBLIC}
    parameters: ClassVar[dict[str, frozenset[str]]] = {
        "retrieve": parameter_names([*ALT_TEXT_PARAMETERS, RICH_TEXT])
    }

    @extend_schema(
        parameters=[*ALT_TEXT_PARAMETERS, RICH_TEXT], responses=described(DeliveredGlobalAnswer)
    )
    def retrieve(self, request: Request, global_slug: str) -> Response:
        """Return a global module that a published page shows. Any other is 404."""
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        text_format = text_format_of(request)
        # PostgreSQL raises an error for NUL in a parameter.
        rows = _GLOBAL.rows(global_slug) if "\x00" not in global_slug else []
        if not rows:
            raise NotFound("No published page shows a global module of that slug.")
        row = rows[0]
        assets = parse_files(row["own_media"])
        add_cache_tags(global_tag(row["global_slug"]))
        depend_on(
            *(tag_of_media(asset.pk) for asset in assets.values()),
            # A change of any post may be the end of its last use.
            tag_of_list(ANY_TYPE),
        )
        wire = {
            "id": row["id"],
            "slug": row["global_slug"],
            "type": row["type"],
            "props": row["props"],
            "media": {
                id_: delivered_asset(asset, locale or settings.CMS_ENV.default_locale)
                for id_, asset in assets.items()
            },
        }
        present_global(row["id"], row["type"], wire, text_format)
        return Response(wire)
