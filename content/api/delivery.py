"""`/api/public/…`: live, published content for frontends and CDNs. Nothing staged is ever read here."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content import presenters, queries
from content.api import reading
from content.api.delivered import DeliveredViewSet
from content.api.schema import delivery
from content.api.schema import posts as schema
from content.api.schema.delivery import FIELDS_MAX
from content.arm_queries import find_published
from content.delivered_media import media_of
from content.layers.state import post_not_found
from content.models import Post
from content.models.post import VARIATION_PATTERN
from content.site.assignment import Arm
from content.site.queries import in_place_of
from core.api.permissions import PUBLIC, Declared
from core.errors import invalid

_NAME: Final = re.compile(VARIATION_PATTERN, re.ASCII)


class DeliveryViewSet(DeliveredViewSet):
    """Published posts."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
    }

    @extend_schema(
        parameters=[*schema.LIVE_PARAMETERS, delivery.LIST_FIELDS],
        responses=delivery.SparseLivePostListSchema,
    )
    def list(self, request: Request) -> Response:
        """Published posts with their modules, or of each the `fields` that are asked for."""
        fields = fields_of(request, delivery.LISTABLE)
        return Response(reading.post_list(request, staged=False, fields=fields))

    @extend_schema(
        parameters=[delivery.FIELDS, delivery.VARIATION], responses=delivery.SparseLivePostSchema
    )
    def retrieve(self, request: Request, post_id: str) -> Response:
        """One published post, or the `fields` of it that are asked for."""
        post, arms = _published(post_id)
        fields = fields_of(request, delivery.WHOLE)
        return Response(delivered_post(post, fields, arms=arms, variation=variation_of(request)))


def delivered_post(
    original: Post,
    fields: Collection[str] | None = None,
    *,
    arms: Sequence[Arm] = (),
    variation: str = "",
) -> dict[str, Any]:
    """A published post as frontends get it, or its running variation in its place.

    What `fields` leave out is not read.
    """
    fields = delivery.WHOLE if fields is None else frozenset(fields)
    arm = next((arm for arm in arms if arm.name == variation), None)
    post = _in_place(arm, original) if arm is not None else original
    wire = reading.only(presenters.post_fields(post), fields)
    if arms:
        tested: presenters.Wire = {
            "variations": [
                {"id": arm.post_id, "variation": arm.name, "weight": arm.weight} for arm in arms
            ]
        }
        if post.variation_of_id is not None:
            tested |= {"variationOf": post.variation_of_id, "variation": post.variation}
        wire |= reading.only(tested, fields)
    if fields & {"modules", "media"}:
        modules = queries.module_rows([post.pk])
        if "modules" in fields:
            wire["modules"] = [presenters.live_module(row) for row in modules.get(post.pk, [])]
        if "media" in fields:
            wire["media"] = media_of({post.pk: post.locale}, modules)[post.pk]
    if "taxonomyTermIds" in fields:
        wire["taxonomyTermIds"] = queries.term_ids(post.pk)
    if "translations" in fields:
        others = queries.translations_of(original, only_published=True)
        wire["translations"] = presenters.translations(others)
    return wire


def variation_of(request: Request) -> str:
    """The variation that the query names; empty for none. 422 for what names none."""
    name = request.query_params.get("variation", "")
    if name and not _NAME.fullmatch(name):
        raise invalid("variation", "variation names one, like B.")
    return name


def _published(post_id: str) -> tuple[Post, list[Arm]]:
    try:
        found = find_published(UUID(post_id))
    except ValueError:
        found = None
    if found is None:
        raise post_not_found(post_id)
    return found


def _in_place(arm: Arm, original: Post) -> Post:
    """The variation where its original stands; the original where it was just stopped."""
    found = queries.find_post(arm.post_id)
    return in_place_of(found, original) if found is not None else original


def fields_of(request: Request, known: Collection[str]) -> Collection[str] | None:
    """What the query asks for of a post; None for all of it. 422 where a name is not one of `known`."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    wanted = {name.strip() for name in text[:FIELDS_MAX].split(",")}
    unknown = sorted(wanted.difference(known))
    if unknown or len(text) > FIELDS_MAX:
        raise invalid("fields", f"fields names some of: {', '.join(sorted(known))}; with commas.")
    return wanted
