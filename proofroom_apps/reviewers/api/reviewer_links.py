"""`/api/posts/:id/reviewer-links`: links that show exact changes to a reviewer without an account."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.review import Paths
from content.layers import open_layers
from content.models import Layer
from content.presenters.layers import StagedLayerText
from content.store.post_queries import require_post
from proofroom.core.api.answer import Answer, PersonAnswer, list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.core.site_urls import reviewer_url
from proofroom_apps.reviewers.links import (
    LONGEST_HOURS,
    USUAL_HOURS,
    create_reviewer_link,
    revoke_reviewer_link,
    state_of,
)
from proofroom_apps.reviewers.models import NAME_MAX, ReviewerLink

StateText = Literal["open", "revoked", "expired", "changed", "closed"]


class AdviceAnswer(Answer):
    """What a reviewer said to one change. `answer` is null if they only left a comment."""

    path: str
    label: str
    answer: Literal["yes", "no"] | None
    comment: str
    given_at: datetime


class ReviewerLinkAnswer(Answer):
    """A reviewer link, without its address. `state` says whether it works, or why it does not."""

    id: UUID
    name: str
    layer: StagedLayerText
    paths: list[str]
    state: StateText
    expires_at: datetime
    created_by: PersonAnswer
    created_at: datetime
    advice: list[AdviceAnswer]


class MadeReviewerLinkAnswer(Answer):
    """A new reviewer link. Its address is returned only once."""

    id: UUID
    url: str = Field(json_schema_extra={"format": "uri"})
    expires_at: datetime


class RevokedLinkAnswer(Answer):
    """The answer to revoking a reviewer link."""

    revoked: bool


class NewReviewerLink(Body):
    """A link to create: the reviewer, the changes as `GET …/changes` names them, and its lifetime."""

    name: Annotated[Words, Field(min_length=1, max_length=NAME_MAX)]
    digest: Words
    paths: Paths | None = None
    expires_in_hours: Annotated[int, Field(ge=1, le=LONGEST_HOURS)] = USUAL_HOURS


class ReviewerLinkViewSet(ApiViewSet):
    """Links of one post for reviewers without an account."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "reviewers.invite",
        "create": "reviewers.invite",
        "destroy": "reviewers.invite",
    }

    @extend_schema(
        parameters=PAGES, responses=list_of(ReviewerLinkAnswer, "The reviewer links of a post.")
    )
    def list(self, request: Request, post_id: str) -> Response:
        """List the links, newest first, with what their reviewers said, without addresses."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        layers = open_layers(post)
        rows = post.reviewer_links.order_by("-created_at", "id")
        shown = list(rows.select_related("created_by").prefetch_related("advice")[page.slice])

        def answer(row: ReviewerLink) -> ReviewerLinkAnswer:
            row.post = post  # no query for the rights of its maker
            return ReviewerLinkAnswer.of(
                row,
                state=state_of(row, layers.view(Layer(row.layer))).value,
                created_by=PersonAnswer(id=row.created_by_id, username=row.created_by_name),
                advice=[
                    AdviceAnswer.of(one, answer=one.verdict or None)
                    for one in sorted(row.advice.all(), key=lambda one: one.pk)
                ],
            )

        return Response(page.envelope([answer(row) for row in shown], rows.count()))

    @extend_schema(request=NewReviewerLink, responses={201: MadeReviewerLinkAnswer})
    def create(self, request: Request, post_id: str) -> Response:
        """Create a link to changes as the digest names them. Its address is returned only once and not stored."""
        body = read_body(request, NewReviewerLink)
        post = require_post(post_id, self.actor)
        link, token = create_reviewer_link(
            post_id=post.pk,
            actor=self.actor,
            name=body.name,
            digest=body.digest,
            paths=body.paths,
            hours=body.expires_in_hours,
        )
        return Response(MadeReviewerLinkAnswer.of(link, url=reviewer_url(token)), status=201)

    @extend_schema(responses={200: RevokedLinkAnswer})
    def destroy(self, request: Request, post_id: str, link_id: str) -> Response:
        """Revoke a link. It stops working at once; what its reviewer said stays."""
        post = require_post(post_id, self.actor)
        revoke_reviewer_link(post_id=post.pk, link_id=link_id, actor=self.actor)
        return Response(RevokedLinkAnswer(revoked=True))
