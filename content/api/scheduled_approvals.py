"""`/api/posts/:id/review/schedule`: changes in Review that are approved for a time."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.review import Paths
from content.layers import open_layers
from content.layers.schedule import (
    ApprovalPlan,
    approvals_of,
    cancel_approval,
    find_approval,
    plans_of,
    schedule_approval,
)
from content.store.post_queries import require_post
from proofroom.core.api.answer import Answer, PersonAnswer, list_of
from proofroom.core.api.body import Body, Moment, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet

SCHEDULED = OpenApiExample(
    "One path of what was seen",
    {"digest": "d2.…", "paths": ["post.title"], "at": "2030-01-31T08:00:00Z"},
    request_only=True,
)


class ScheduleConflictAnswer(Answer):
    """Why scheduled changes cannot go live as they are."""

    message: str


class ScheduledApprovalAnswer(Answer):
    """Changes in Review that go live at a time. `conflict` names what has changed since, before the time comes."""

    id: UUID
    post_id: UUID
    at: datetime
    paths: list[str]
    state: Literal["waiting", "failed"]
    conflict: ScheduleConflictAnswer | None
    created_by: PersonAnswer
    created_at: datetime


class RemovedScheduleAnswer(Answer):
    """The answer to removing a schedule."""

    removed: bool


class NewScheduledApproval(Body):
    """An approval for a time: the changes as `GET …/changes` names them."""

    digest: Words
    paths: Paths | None = None
    at: Moment = Field(description="A time in the future, with a zone.")


class ScheduledApprovalViewSet(ApiViewSet):
    """Scheduled changes of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "retrieve": "posts.view",
        "create": "posts.review.approve",
        "destroy": "posts.review.approve",
    }

    @extend_schema(
        parameters=PAGES,
        responses=list_of(ScheduledApprovalAnswer, "The scheduled changes of a post."),
    )
    def list(self, request: Request, post_id: str) -> Response:
        """List the scheduled changes of a post, the next ones first. Failed ones stay until they are removed."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        review = open_layers(post).review
        rows = approvals_of(post)
        shown = [answer_of(plan) for plan in plans_of(post, rows[page.slice], review)]
        return Response(page.envelope(shown, rows.count()))

    @extend_schema(responses={200: ScheduledApprovalAnswer})
    def retrieve(self, request: Request, post_id: str, schedule_id: str) -> Response:
        """Return scheduled changes, and whether they could go live now."""
        post = require_post(post_id, self.actor)
        row = find_approval(post, schedule_id)
        [plan] = plans_of(post, [row], open_layers(post).review)
        return Response(answer_of(plan))

    @extend_schema(
        request=NewScheduledApproval,
        responses={201: ScheduledApprovalAnswer},
        examples=[SCHEDULED],
    )
    def create(self, request: Request, post_id: str) -> Response:
        """Approve Review, or `paths` of it, for a time. It is judged now, and again at that time."""
        body = read_body(request, NewScheduledApproval)
        row = schedule_approval(
            post_id=post_id,
            actor=self.actor,
            digest=body.digest,
            paths=body.paths,
            at=body.at,
        )
        return Response(answer_of(ApprovalPlan(row)), status=201)

    @extend_schema(responses={200: RemovedScheduleAnswer})
    def destroy(self, request: Request, post_id: str, schedule_id: str) -> Response:
        """Remove a schedule. The changes stay in Review."""
        cancel_approval(post_id=post_id, schedule_id=schedule_id, actor=self.actor)
        return Response(RemovedScheduleAnswer(removed=True))


def answer_of(plan: ApprovalPlan) -> ScheduledApprovalAnswer:
    """Return scheduled changes as the API shows them."""
    row = plan.row
    return ScheduledApprovalAnswer.of(
        row,
        state="failed" if row.failed_at is not None else "waiting",
        conflict=ScheduleConflictAnswer(message=plan.conflict) if plan.conflict else None,
        created_by=PersonAnswer(id=row.by_id, username=row.by_name),
    )
