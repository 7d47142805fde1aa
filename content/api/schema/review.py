"""The OpenAPI descriptions of what is staged and of the decisions about it."""

from __future__ import annotations

from typing import get_args

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from content.api.answers import WRITTEN
from content.api.schema.posts import PostFieldsSchema
from content.changes.values import Kind
from content.models import Layer
from content.post_fields import TITLE_MAX
from content.review.differences import KINDS as DIFFERENCE_KINDS
from content.review.risk import FLAGS
from core.actor import Via
from core.api.schema import PersonSchema, choice, query

LAYERS = list(Layer.values)
KINDS = list(get_args(Kind))
PIECES = list(DIFFERENCE_KINDS)
VIAS = list(get_args(Via))
LAYER_PARAMETER = [query("layer", "The layer.", {**choice(*LAYERS), "default": "review"})]

STAGED_EXAMPLE = OpenApiExample(
    "A title and the text of one module",
    {
        "title": "Filter coffee, step by step",
        "modules": [
            {
                "postModuleId": "5b0e0f5e-9d3c-4f0e-8f5d-0c2a1f6f7a10",
                "props": {"title": "Three minutes, one filter"},
            }
        ],
    },
    request_only=True,
)
APPROVED = OpenApiExample(
    "One path of what was seen",
    {"digest": "d2.…", "paths": ["post.title"], "note": "Agreed."},
    request_only=True,
)


class DifferenceSchema(serializers.Serializer[object]):
    """One path that differs."""

    path = serializers.CharField(help_text="Like `modules.<postModuleId>.props.title`.")
    kind = serializers.ChoiceField(choices=KINDS)
    label = serializers.CharField(help_text="The path in words.")  # type: ignore[assignment]
    before = serializers.JSONField()
    after = serializers.JSONField()


class PieceSchema(serializers.Serializer[object]):
    """One thing that differs. What nobody sees in a text is written by name, in brackets of the kind ⟦U+200B …⟧."""

    kind = serializers.ChoiceField(choices=PIECES)
    place = serializers.CharField(allow_blank=True, help_text="Where it is in the value, in words.")
    before = serializers.CharField(allow_null=True, allow_blank=True)
    after = serializers.CharField(allow_null=True, allow_blank=True)
    about = serializers.CharField(
        allow_null=True, help_text="The words that carry it: the text of a link, what is bold."
    )
    passage = serializers.CharField(
        allow_null=True,
        help_text="Names the passage in `paths` of approve, submit and reject: `<path>#<passage>`. "
        "Null where the change is one decision.",
    )


class EarlierRejectionSchema(serializers.Serializer[object]):
    """A rejection of the same path, which was not taken back."""

    at = serializers.DateTimeField()
    by = PersonSchema(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    same = serializers.BooleanField(help_text="The same words were rejected.")


class ChangeSchema(DifferenceSchema):
    """One path that a layer changes, and whose hand it is."""

    by = PersonSchema(allow_null=True)
    agentId = serializers.CharField(allow_null=True)  # names of the wire
    runId = serializers.CharField(allow_null=True)
    via = serializers.ChoiceField(choices=VIAS, allow_null=True)
    editedBy = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
    conflict = serializers.BooleanField()
    flags = serializers.ListField(
        child=serializers.ChoiceField(choices=FLAGS),
        help_text="What a person must look at; empty only where the change is safe.",
    )
    pieces = PieceSchema(many=True, help_text="All that differs, in order.")
    rejectedBefore = EarlierRejectionSchema(
        many=True, help_text="What people rejected here in the last 30 days, newest first."
    )


class ChangesSchema(serializers.Serializer[object]):
    """What a layer changes. The digest stands for exactly these changes."""

    postId = serializers.UUIDField()
    layer = serializers.ChoiceField(choices=LAYERS)
    version = serializers.IntegerField(min_value=0)
    baseVersion = serializers.IntegerField(min_value=0)
    digest = serializers.CharField()
    changes = ChangeSchema(many=True)


class StagedModuleSchema(serializers.Serializer[object]):
    """What to stage of a module."""

    postModuleId = serializers.UUIDField()
    props = serializers.DictField(required=False, allow_null=True, help_text=WRITTEN)
    overrides = serializers.DictField(required=False, allow_null=True, help_text=WRITTEN)
    position = serializers.IntegerField(required=False, allow_null=True, min_value=0)


class ReviewInputSchema(PostFieldsSchema):
    """What to stage in Review; what is absent stays as it is there."""

    title = serializers.CharField(required=False, min_length=1, max_length=TITLE_MAX)
    modules = StagedModuleSchema(many=True, required=False)
    version = serializers.IntegerField(required=False, allow_null=True, min_value=0)


class StagedSchema(serializers.Serializer[object]):
    """The paths that a save staged."""

    postId = serializers.UUIDField()
    layer = serializers.ChoiceField(choices=LAYERS)
    version = serializers.IntegerField(min_value=0)
    staged = serializers.ListField(child=serializers.CharField())


class ConflictSchema(serializers.Serializer[object]):
    """A path that a person staged differently; both values stay where they are."""

    path = serializers.CharField()
    review = serializers.JSONField()
    aiReview = serializers.JSONField()


class SubmittedSchema(serializers.Serializer[object]):
    """What went from AI Review into Review, and what did not."""

    postId = serializers.UUIDField()
    submitted = serializers.ListField(child=serializers.CharField())
    conflicts = ConflictSchema(many=True)
    reviewVersion = serializers.IntegerField(min_value=0)


class RejectedSchema(serializers.Serializer[object]):
    """The paths that were dropped."""

    postId = serializers.UUIDField()
    layer = serializers.ChoiceField(choices=LAYERS)
    rejected = serializers.ListField(child=serializers.CharField())
