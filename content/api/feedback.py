"""`/api/feedbacks`: notes that people put on posts."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.schema import feedback as schema
from content.models import Feedback, FeedbackCategory, FeedbackStatus
from content.presenters.feedback import feedback
from content.services.feedback import change_feedback, create_feedback, delete_feedback
from core.api.body import Body, Words, body_object, check
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.errors import invalid

_MADE = frozenset({"id", "author", "createdAt", "resolvedBy", "resolvedAt"})
"""What a GET answers and nobody writes."""
_PLACED = _MADE | {"postId", "x", "y", "elementSelector"}
"""And what stays once it is written."""


class NewFeedback(Body):
    post_id: Words
    content: Words
    category: Words = FeedbackCategory.COMMENT.value
    x: float | None = None
    y: float | None = None
    element_selector: Words = ""


class FeedbackChange(Body):
    """What is absent stays; null is no value of any."""

    status: Words = ""
    category: Words = ""
    content: Words = ""


class FeedbackViewSet(ApiViewSet):
    """Feedback: list, give, resolve, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "feedback.view",
        "create": "feedback.create",
        "update": ("feedback.resolve", "feedback.create"),
        "destroy": "feedback.delete",
    }
    path_schemas = schema.PATHS

    @extend_schema(parameters=schema.FEEDBACK_PARAMETERS, responses=schema.FeedbackListSchema)
    def list(self, request: Request) -> Response:
        """Feedback, newest first."""
        page = page_of(request)
        rows = _filtered(request)
        found = rows.select_related("author", "resolved_by").order_by("-created_at", "-id")
        return Response(page.envelope([feedback(row) for row in found[page.slice]], rows.count()))

    @extend_schema(request=schema.NewFeedbackSchema, responses={201: schema.FeedbackSchema})
    def create(self, request: Request) -> Response:
        """Put a note on a post."""
        given = check(_without(request, _MADE | {"status"}), NewFeedback)
        row = create_feedback(**given.model_dump(), actor=self.actor)
        return Response(_present(row), status=201)

    @extend_schema(request=schema.FeedbackChangeSchema, responses=schema.FeedbackSchema)
    def update(self, request: Request, feedback_id: str) -> Response:
        """Resolve it or open it again, sort it, or change one's own words."""
        given = check(_without(request, _PLACED), FeedbackChange)
        changes = given.model_dump(exclude_unset=True)
        row = change_feedback(feedback_id=feedback_id, **changes, actor=self.actor)
        return Response(_present(row))

    @extend_schema(responses=schema.FeedbackDeletedSchema)
    def destroy(self, request: Request, feedback_id: str) -> Response:
        """Delete it for good."""
        return Response({"id": delete_feedback(feedback_id=feedback_id, actor=self.actor)})


def _without(request: Request, names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in body_object(request).items() if name not in names}


def _present(row: Feedback) -> dict[str, Any]:
    return feedback(Feedback.objects.select_related("author", "resolved_by").get(pk=row.pk))


def _filtered(request: Request) -> QuerySet[Feedback]:
    params = request.query_params
    rows = Feedback.objects.filter(post__deleted_at__isnull=True)
    if "postId" in params:
        try:
            rows = rows.filter(post_id=UUID(params["postId"]))
        except ValueError:
            raise invalid("postId", "postId must be the id of a post.") from None
    for name, known in (("status", FeedbackStatus), ("category", FeedbackCategory)):
        if name in params:
            if params[name] not in known.values:
                raise invalid(name, f"{name} must be one of: {', '.join(known.values)}.")
            rows = rows.filter(**{name: params[name]})
    return rows
