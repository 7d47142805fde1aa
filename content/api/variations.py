"""`/api/posts/:id/variations`: alternative versions of a post's content, and the winner's promotion."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.common_answers import StatusText
from content.api.post_answers import MADE, PostAnswer
from content.models.post import VARIATION_MAX
from content.posts.variations import USUAL_WEIGHT, create_variation, promote_variation
from content.presenters.whole_post import present_post
from content.store import post_queries
from content.store.arms import remaining_weight
from content.store.post_queries import require_post
from content.store.traffic import WEIGHTS, change_variation
from proofroom.core.api.answer import Answer, MetaAnswer, described
from proofroom.core.api.body import Body, Whole, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet, expected_version


class VariationAnswer(Answer):
    """An alternative version of a post's content."""

    id: UUID
    variation_of: UUID = Field(validation_alias="variation_of_id")
    variation: str
    weight: int = Field(
        ge=1,
        le=100,
        validation_alias="variation_weight",
        description="The share of visitors, in percent, while the variation is running.",
    )
    running: bool = Field(
        validation_alias="variation_running",
        description="Whether the variation is shown to visitors of the original.",
    )
    title: str
    status: StatusText
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


class RestAnswer(Answer):
    """The original among its variations."""

    id: UUID
    weight: int = Field(
        ge=0,
        le=100,
        description="The share of visitors, in percent: at most what the other running variations leave.",
    )


class VariationListAnswer(Answer):
    """The variations of a post."""

    data: list[VariationAnswer]
    original: RestAnswer
    meta: MetaAnswer


class NewVariation(Body):
    """`weight`: percent of the visitors while it runs."""

    variation: Annotated[
        str, Field(min_length=1, max_length=VARIATION_MAX, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")
    ]
    weight: Annotated[int, Field(ge=WEIGHTS[0], le=WEIGHTS[-1])] = USUAL_WEIGHT


class Promotion(Body):
    """The winner. 409 if a given version of the post or variation is outdated."""

    variation_id: Annotated[Words, Field(max_length=64, json_schema_extra={"format": "uuid"})]
    version: Whole | None = None
    variation_version: Whole | None = None


class VariationChanges(Body, answered_by=VariationAnswer):
    """Changes of a variation; absent keys stay, and other keys of a GET response are ignored.

    Running variations together have at most 100 percent of the visitors; the original has the rest.
    """

    weight: Annotated[int, Field(ge=WEIGHTS[0], le=WEIGHTS[-1])] | None = None
    running: bool | None = None


class VariationViewSet(ApiViewSet):
    """Variations of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "create": "posts.create",
        "change": ("posts.edit", "posts.publish"),
        "promote": "posts.edit",
    }

    @extend_schema(parameters=PAGES, responses=VariationListAnswer)
    def list(self, request: Request, post_id: str) -> Response:
        """List the variations of a post by name. Other lists omit them."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        rows = post_queries.reachable_posts().filter(variation_of=post).order_by("variation", "id")
        data = [VariationAnswer.of(row) for row in rows[page.slice]]
        original = RestAnswer(id=post.pk, weight=remaining_weight(post.pk))
        return Response({**page.envelope(data, rows.count()), "original": original})

    @extend_schema(parameters=MADE, request=NewVariation, responses={201: described(PostAnswer)})
    def create(self, request: Request, post_id: str) -> Response:
        """Create a draft with the post's content, to be changed there."""
        body = read_body(request, NewVariation)
        post = create_variation(
            post_id=require_post(post_id, self.actor).pk,
            variation=body.variation,
            weight=body.weight,
            actor=self.actor,
        )
        where = {"Location": f"/api/posts/{post.pk}"}
        return Response(present_post(post, self.actor), status=201, headers=where)

    @extend_schema(request=VariationChanges, responses=VariationAnswer)
    def change(self, request: Request, post_id: str, variation_id: str) -> Response:
        """Change a variation's weight, start or stop it. It replaces a published original."""
        body = read_body(request, VariationChanges)
        post = change_variation(
            post_id=require_post(post_id, self.actor).pk,
            variation_id=variation_id,
            weight=body.weight,
            running=body.running,
            actor=self.actor,
        )
        return Response(VariationAnswer.of(post))

    @extend_schema(request=Promotion, responses={200: described(PostAnswer)})
    def promote(self, request: Request, post_id: str) -> Response:
        """Give the post a variation's content. Address, status and drafts stay; its test ends."""
        body = read_body(request, Promotion)
        post = promote_variation(
            post_id=require_post(post_id, self.actor).pk,
            variation_id=body.variation_id,
            actor=self.actor,
            expected_version=expected_version(request, body.version),
            expected_variation_version=body.variation_version,
        )
        return Response(present_post(post, self.actor))
