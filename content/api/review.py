"""`/api/posts/:id/changes`, `/review`, `/ai-review`: what is staged, and the decisions about it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content import edits, layers, presenters
from content.api import reading
from content.api.schema import review as schema
from content.api.schema.posts import PostSchema
from content.document import PostDocument
from content.layers.marks import NOTE_MAX
from content.models import Layer, Post
from content.reference_queries import references_of
from core.api.body import Body, Words, body_object, read_body
from core.api.permissions import Declared
from core.api.views import ApiViewSet, whole_version
from core.errors import invalid

Note = Annotated[Words, Field(max_length=NOTE_MAX)]
Paths = Annotated[list[Annotated[Words, Field(max_length=320)]], Field(max_length=20_000)]
"""Paths of changes; `<path>#<passage>` names a passage of one."""


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

    @extend_schema(parameters=schema.LAYER_PARAMETER, responses=schema.ChangesSchema)
    def changes(self, request: Request, post_id: str) -> Response:
        """What a layer changes, with the digest that an approval must send back."""
        layer = _layer(request)
        post = _post(post_id)
        view = layers.open_layers(post).view(layer)
        references = references_of(view.changes, view.document, view.below)
        return Response(presenters.layer_changes(post, view, references))

    @extend_schema(
        request=schema.ReviewInputSchema,
        responses=schema.StagedSchema,
        examples=[schema.STAGED_EXAMPLE],
    )
    def save_review(self, request: Request, post_id: str) -> Response:
        """Stage in Review: post fields flat, `taxonomyTermIds`, and `modules` as a list; what is absent stays."""
        body = body_object(request)
        version = whole_version(body.pop("version", None))
        modules = body.pop("modules", [])
        if not isinstance(modules, list) or not all(isinstance(item, dict) for item in modules):
            raise invalid("modules", "modules must be a list of objects.")

        def edit(document: PostDocument) -> PostDocument:
            return edits.patch_modules(edits.patch_fields(document, body), modules)

        staged = layers.stage(
            post_id=_post(post_id).pk,
            layer=Layer.REVIEW,
            actor=self.actor,
            edit=edit,
            expected_version=version,
        )
        return Response(
            {
                "postId": staged.post.pk,
                "layer": staged.layer.value,
                "version": staged.version,
                "staged": list(staged.paths),
            }
        )

    @extend_schema(request=Submission, responses={200: schema.SubmittedSchema})
    def submit(self, request: Request, post_id: str) -> Response:
        """Carry AI Review into Review. What a person staged differently stays behind as a conflict."""
        body = read_body(request, Submission)
        done = layers.submit(
            post_id=_post(post_id).pk,
            actor=self.actor,
            paths=body.paths,
            overwrite=body.overwrite,
            note=body.note,
        )
        return Response(presenters.submitted(done))

    @extend_schema(request=Approval, responses={200: PostSchema}, examples=[schema.APPROVED])
    def approve(self, request: Request, post_id: str) -> Response:
        """Bring Review, or `paths` of it, live, for exactly what the digest says was seen."""
        body = read_body(request, Approval)
        post, _ = layers.approve(
            post_id=_post(post_id).pk,
            actor=self.actor,
            digest=body.digest,
            paths=body.paths,
            note=body.note,
        )
        return Response(reading.present(post))

    @extend_schema(request=Rejection, responses={200: schema.RejectedSchema})
    def reject_review(self, request: Request, post_id: str) -> Response:
        """Drop Review, or `paths` of it."""
        return self._reject(request, post_id, Layer.REVIEW)

    @extend_schema(request=Rejection, responses={200: schema.RejectedSchema})
    def reject_ai_review(self, request: Request, post_id: str) -> Response:
        """Drop AI Review, or `paths` of it."""
        return self._reject(request, post_id, Layer.AI_REVIEW)

    def _reject(self, request: Request, post_id: str, layer: Layer) -> Response:
        body = read_body(request, Rejection)
        done = layers.reject(
            post_id=_post(post_id).pk,
            layer=layer,
            actor=self.actor,
            paths=body.paths,
            note=body.note,
            digest=body.digest,
        )
        return Response(
            {"postId": done.post.pk, "layer": layer.value, "rejected": list(done.paths)}
        )


def _post(post_id: str) -> Post:
    return reading.require_post(post_id)


def _layer(request: Request) -> Layer:
    text = request.query_params.get("layer", Layer.REVIEW)
    try:
        return Layer(text)
    except ValueError:
        raise invalid("layer", "layer must be review or ai-review.") from None
