"""`/api/feedbacks`: notes on posts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.store.scopes import filter_by_visible_post
from proofroom.core.api.answer import Answer, PersonAnswer, list_of, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom_apps.feedback.models import Feedback, FeedbackCategory, FeedbackStatus
from proofroom_apps.feedback.services import (
    CONTENT_MAX,
    MAX_COORDINATE,
    SELECTOR_MAX,
    change_feedback,
    create_feedback,
    delete_feedback,
)

FEEDBACK_PARAMETERS: Final = [
    query_parameter("postId", "On this post.", UUID_TEXT),
    query_parameter("status", "Status.", choice_schema(*FeedbackStatus.values)),
    query_parameter("category", "Category.", choice_schema(*FeedbackCategory.values)),
    *PAGES,
]
StatusText = Annotated[Words, one_of(FeedbackStatus.values)]
CategoryText = Annotated[Words, one_of(FeedbackCategory.values)]
# Validated in the service, so that the admin shows the same messages.
Content = Annotated[Words, Field(json_schema_extra={"maxLength": CONTENT_MAX})]
Pixels = Annotated[
    float | None, Field(json_schema_extra={"minimum": 0, "maximum": float(MAX_COORDINATE)})
]


class FeedbackAnswer(Answer):
    """A note on a post."""

    id: UUID
    post_id: UUID
    category: CategoryText
    content: str
    x: float | None
    y: float | None
    element_selector: str
    status: StatusText
    author: PersonAnswer | None
    created_at: datetime
    resolved_by: PersonAnswer | None
    resolved_at: datetime | None


class FeedbackDeletedAnswer(Answer):
    """The deleted feedback."""

    id: UUID


class NewFeedback(Body, answered_by=FeedbackAnswer):
    """A note on a post; `x` and `y` are pixels of the page."""

    post_id: Annotated[Words, Field(json_schema_extra={"format": "uuid"})]
    content: Content
    category: CategoryText = FeedbackCategory.COMMENT.value
    x: Pixels = None
    y: Pixels = None
    element_selector: Annotated[Words, Field(json_schema_extra={"maxLength": SELECTOR_MAX})] = ""


class FeedbackChange(Body, answered_by=FeedbackAnswer):
    """Changes of feedback; other keys of a GET answer are ignored. Only the author may change `content`."""

    # None of the fields accepts null.
    status: StatusText = Field(default_factory=str)
    category: CategoryText = Field(default_factory=str)
    content: Content = Field(default_factory=str)


class FeedbackViewSet(ApiViewSet):
    """Feedback: list, create, resolve, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "feedback.view",
        "create": "feedback.create",
        "update": ("feedback.resolve", "feedback.create"),
        "destroy": "feedback.delete",
    }
    path_schemas: ClassVar = {"feedback_id": UUID_TEXT}

    @extend_schema(
        parameters=FEEDBACK_PARAMETERS, responses=list_of(FeedbackAnswer, "Feedback, newest first.")
    )
    def list(self, request: Request) -> Response:
        """List feedback, newest first."""
        page = page_of(request)
        params = request.query_params
        rows = filter_by_visible_post(
            Feedback.objects.filter(post__deleted_at__isnull=True), self.actor
        )
        if "postId" in params:
            try:
                rows = rows.filter(post_id=UUID(params["postId"]))
            except ValueError:
                raise invalid("postId", "postId must be the id of a post.") from None
        for name, known in (("status", FeedbackStatus), ("category", FeedbackCategory)):
            if (value := choice_in(request, name, known.values)) is not None:
                rows = rows.filter(**{name: value})
        found = rows.select_related("author", "resolved_by").order_by("-created_at", "-id")
        data = [FeedbackAnswer.of(row) for row in found[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewFeedback, responses={201: FeedbackAnswer})
    def create(self, request: Request) -> Response:
        """Create a note on a post."""
        given = read_body(request, NewFeedback)
        row = create_feedback(**given.model_dump(), actor=self.actor)
        return Response(_present(row), status=201)

    @extend_schema(request=FeedbackChange, responses=FeedbackAnswer)
    def update(self, request: Request, feedback_id: str) -> Response:
        """Resolve or reopen it, sort it, or change your own text."""
        given = read_body(request, FeedbackChange)
        changes = given.model_dump(exclude_unset=True)
        row = change_feedback(feedback_id=feedback_id, **changes, actor=self.actor)
        return Response(_present(row))

    @extend_schema(responses=FeedbackDeletedAnswer)
    def destroy(self, request: Request, feedback_id: str) -> Response:
        """Delete it permanently."""
        id_ = delete_feedback(feedback_id=feedback_id, actor=self.actor)
        return Response(FeedbackDeletedAnswer(id=id_))


def _present(row: Feedback) -> FeedbackAnswer:
    # One query for the note with both users, instead of one for each.
    found = Feedback.objects.select_related("author", "resolved_by").get(pk=row.pk)
    return FeedbackAnswer.of(found)
