"""The OpenAPI descriptions of feedback."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from content.models import FeedbackCategory, FeedbackStatus
from content.services.feedback import CONTENT_MAX, FARTHEST, SELECTOR_MAX
from core.api.schema import PAGES, UUID_TEXT, MetaSchema, PersonSchema, choice, query

PATHS: Final = {"feedback_id": UUID_TEXT}
FEEDBACK_PARAMETERS: Final = [
    query("postId", "On this post.", UUID_TEXT),
    query("status", "Status.", choice(*FeedbackStatus.values)),
    query("category", "Category.", choice(*FeedbackCategory.values)),
    *PAGES,
]


class FeedbackChangeSchema(serializers.Serializer[object]):
    """What is absent stays; what else a GET answers may be sent back. `content` changes by its author only."""

    status = serializers.ChoiceField(choices=FeedbackStatus.choices, required=False)
    category = serializers.ChoiceField(choices=FeedbackCategory.choices, required=False)
    content = serializers.CharField(required=False, max_length=CONTENT_MAX)


class NewFeedbackSchema(serializers.Serializer[object]):
    """A note on a post; `x` and `y` are pixels of the page."""

    postId = serializers.UUIDField()  # names of the wire
    category = serializers.ChoiceField(choices=FeedbackCategory.choices, required=False)
    content = serializers.CharField(max_length=CONTENT_MAX)
    x = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=FARTHEST)
    y = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=FARTHEST)
    elementSelector = serializers.CharField(
        required=False, allow_blank=True, max_length=SELECTOR_MAX
    )


class FeedbackSchema(serializers.Serializer[object]):
    """A note that a person put on a post."""

    id = serializers.UUIDField()
    postId = serializers.UUIDField()
    category = serializers.ChoiceField(choices=FeedbackCategory.choices)
    content = serializers.CharField()
    x = serializers.FloatField(allow_null=True)
    y = serializers.FloatField(allow_null=True)
    elementSelector = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=FeedbackStatus.choices)
    author = PersonSchema(allow_null=True)
    createdAt = serializers.DateTimeField()
    resolvedBy = PersonSchema(allow_null=True)
    resolvedAt = serializers.DateTimeField(allow_null=True)


class FeedbackListSchema(serializers.Serializer[object]):
    """Feedback, newest first."""

    data = FeedbackSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class FeedbackDeletedSchema(serializers.Serializer[object]):
    """What was deleted."""

    id = serializers.UUIDField()
