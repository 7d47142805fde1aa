"""`/api/posts/:id/changes`, `/review`, `/ai-review`: staged changes and decisions."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Required
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from content import layers, presenters
from content.api.common_answers import WRITTEN
from content.api.post_answers import PostAnswer, PostFields
from content.comparison.references import references_of
from content.document.document import PostDocument
from content.document.post_fields import TITLE_MAX
from content.models import Layer
from content.presenters.layers import STAGED_LAYERS, ChangesAnswer, StagedLayerText, SubmittedAnswer
from content.presenters.posts import Index
from content.presenters.whole_post import present_post
from content.store import document_edits
from content.store.layer_state import NOTE_MAX
from content.store.post_queries import require_post
from proofroom.core.api.answer import Answer, described
from proofroom.core.api.body import Body, Words, body_object, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet, version_of_body
from proofroom.core.errors import invalid

Note = Annotated[Words, Field(max_length=NOTE_MAX)]
Paths = Annotated[list[Annotated[Words, Field(max_length=320)]], Field(max_length=20_000)]
"""Paths of changes; `<path>#<passage>` is a passage of one."""


LAYER_PARAMETER: Final = [
    query_parameter("layer", "The layer.", {**choice_schema(*STAGED_LAYERS), "default": "review"})
]
STAGED_EXAMPLE: Final = OpenApiExample(
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
APPROVED: Final = OpenApiExample(
    "One path of what was seen",
    {"digest": "d2.…", "paths": ["post.title"], "note": "Agreed."},
    request_only=True,
)


class StagedModule(TypedDict, total=False):
    """A module to stage."""

    postModuleId: Required[UUID]
    props: Annotated[dict[str, Any] | None, Field(description=WRITTEN)]
    overrides: Annotated[dict[str, Any] | None, Field(description=WRITTEN)]
    position: Index | None


class ReviewInput(PostFields, total=False):
    """Changes to stage in Review; absent keys stay unchanged."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE_MAX)]
    modules: list[StagedModule]
    version: Index | None


class StagedAnswer(Answer):
    """The paths staged by a save."""

    post_id: UUID
    layer: StagedLayerText
    version: Index
    staged: list[str]


class RejectedAnswer(Answer):
    """The rejected paths."""

    post_id: UUID
    layer: StagedLayerText
    rejected: list[str]


class Approval(Body):
    digest: Words
    paths: Paths | None = None
    note: Note = ""


class Rejection(Body):
    paths: Paths | None = None
    note: Note = ""
    digest: Words | None = None


class Submission(Body):
    paths: Paths | None = None
    overwrite: Paths = []
    note: Note = ""


class ReviewViewSet(ApiViewSet):
    """The layers of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "changes": "posts.view",
        "save_review": "posts.review.save",
        "submit": "posts.ai-review.approve",
        "approve": "posts.review.approve",
        "reject_review": "posts.review.approve",
        "reject_ai_review": "posts.review.approve",
    }

    @extend_schema(parameters=LAYER_PARAMETER, responses=described(ChangesAnswer))
    def changes(self, request: Request, post_id: str) -> Response:
        """List a layer's changes, with the digest that an approval requires."""
        try:
            layer = Layer(request.query_params.get("layer", Layer.REVIEW))
        except ValueError:
            raise invalid("layer", "layer must be review or ai-review.") from None
        post = require_post(post_id, self.actor)
        view = layers.open_layers(post).view(layer)
        references = references_of(view.changes, view.document, view.below, who=self.actor)
        return Response(presenters.layer_changes(post, view, references))

    @extend_schema(
        request=described(ReviewInput),
        responses=StagedAnswer,
        examples=[STAGED_EXAMPLE],
    )
    def save_review(self, request: Request, post_id: str) -> Response:
        """Stage in Review: post fields, `taxonomyTermIds`, and a list of `modules`; absent keys stay."""
        body = body_object(request)
        version = version_of_body(body.pop("version", None))
        modules = body.pop("modules", [])
        if not isinstance(modules, list) or not all(isinstance(item, dict) for item in modules):
            raise invalid("modules", "modules must be a list of objects.")

        def edit(document: PostDocument) -> PostDocument:
            return document_edits.patch_modules(
                document_edits.patch_fields(document, body), modules
            )

        staged = layers.stage(
            post_id=require_post(post_id, self.actor).pk,
            layer=Layer.REVIEW,
            actor=self.actor,
            edit=edit,
            expected_version=version,
        )
        return Response(
            StagedAnswer(
                post_id=staged.post.pk,
                layer=staged.layer.value,
                version=staged.version,
                staged=list(staged.paths),
            )
        )

    @extend_schema(request=Submission, responses={200: described(SubmittedAnswer)})
    def submit(self, request: Request, post_id: str) -> Response:
        """Move AI Review to Review. Paths a person staged differently stay as conflicts."""
        body = read_body(request, Submission)
        done = layers.submit(
            post_id=require_post(post_id, self.actor).pk,
            actor=self.actor,
            paths=body.paths,
            overwrite=body.overwrite,
            note=body.note,
        )
        return Response(presenters.present_submitted(done))

    @extend_schema(request=Approval, responses={200: described(PostAnswer)}, examples=[APPROVED])
    def approve(self, request: Request, post_id: str) -> Response:
        """Make Review, or `paths` of it, live, if it still matches the digest."""
        body = read_body(request, Approval)
        post, _ = layers.approve(
            post_id=post_id,
            actor=self.actor,
            digest=body.digest,
            paths=body.paths,
            note=body.note,
        )
        return Response(present_post(post, self.actor))

    @extend_schema(request=Rejection, responses={200: RejectedAnswer})
    def reject_review(self, request: Request, post_id: str) -> Response:
        """Reject Review, or `paths` of it."""
        return self._reject(request, post_id, Layer.REVIEW)

    @extend_schema(request=Rejection, responses={200: RejectedAnswer})
    def reject_ai_review(self, request: Request, post_id: str) -> Response:
        """Reject AI Review, or `paths` of it."""
        return self._reject(request, post_id, Layer.AI_REVIEW)

    def _reject(self, request: Request, post_id: str, layer: Layer) -> Response:
        body = read_body(request, Rejection)
        done = layers.reject(
            post_id=require_post(post_id, self.actor).pk,
            layer=layer,
            actor=self.actor,
            paths=body.paths,
            note=body.note,
            digest=body.digest,
        )
        return Response(
            RejectedAnswer(post_id=done.post.pk, layer=layer.value, rejected=list(done.paths))
        )
