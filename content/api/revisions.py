"""`/api/posts/:id/revisions` and `/provenance`: what was, and where each word came from."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content import layers, presenters
from content.api import reading
from content.api.schema import revisions as schema
from content.api.schema.posts import PostSchema
from content.layers.marks import NOTE_MAX
from content.models import Post, Provenance, Revision
from content.revision_queries import differences, find_revision, revisions_of
from core.api.body import Body, Words, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.errors import invalid


class Reversion(Body):
    note: Annotated[Words, Field(max_length=NOTE_MAX)] = ""


class RevisionViewSet(ApiViewSet):
    """Revisions of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "posts.view",
        "retrieve": "posts.view",
        "compare": "posts.view",
        "revert": "posts.revisions.manage",
        "provenance": "posts.view",
    }

    @extend_schema(parameters=schema.LIST_PARAMETERS, responses=schema.RevisionListSchema)
    def list(self, request: Request, post_id: str) -> Response:
        """Newest first, without their documents."""
        post = _post(post_id)
        page = page_of(request)
        rows = revisions_of(post)
        total = rows.count()
        return Response(
            page.envelope([presenters.revision(row) for row in rows[page.slice]], total)
        )

    @extend_schema(responses=schema.WholeRevisionSchema)
    def retrieve(self, request: Request, post_id: str, revision_id: str) -> Response:
        """One revision with its document."""
        row = _revision(_post(post_id), revision_id, "id")
        return Response(presenters.revision(row, with_document=True))

    @extend_schema(parameters=schema.COMPARE_PARAMETERS, responses=schema.ComparisonSchema)
    def compare(self, request: Request, post_id: str) -> Response:
        """What changed between two revisions of the post."""
        post = _post(post_id)
        one = _revision(post, request.query_params.get("from", ""), "from")
        other = _revision(post, request.query_params.get("to", ""), "to")
        rows = [
            {
                "path": item.path,
                "kind": item.kind,
                "label": item.label,
                "before": presenters.plain(item.before),
                "after": presenters.plain(item.after),
            }
            for item in differences(one, other)
        ]
        return Response({"from": one.pk, "to": other.pk, "changes": rows})

    @extend_schema(request=Reversion, responses={200: PostSchema})
    def revert(self, request: Request, post_id: str, revision_id: str) -> Response:
        """Make the live content what the revision holds; status and drafts stay."""
        body = read_body(request, Reversion)
        post = _post(post_id)
        row = _revision(post, revision_id, "id")
        post = layers.revert_to_revision(
            post_id=post.pk, revision_id=row.pk, actor=self.actor, note=body.note
        )
        return Response(reading.present(post))

    @extend_schema(parameters=schema.PROVENANCE_PARAMETERS, responses=schema.ProvenanceListSchema)
    def provenance(self, request: Request, post_id: str) -> Response:
        """Who wrote and who approved each path of the live content, the latest first."""
        post = _post(post_id)
        page = page_of(request)
        rows = Provenance.objects.filter(post=post).order_by("-id")
        path = request.query_params.get("path")
        if path:
            # A path holds no NUL, and PostgreSQL would refuse to look for one.
            rows = rows.filter(path=path) if "\x00" not in path else rows.none()
        total = rows.count()
        return Response(
            page.envelope([presenters.provenance(row) for row in rows[page.slice]], total)
        )


def _post(post_id: str) -> Post:
    return reading.require_post(post_id)


def _revision(post: Post, revision_id: str, field: str) -> Revision:
    if not revision_id:
        raise invalid(field, f"{field} must be the id of a revision.")
    return find_revision(post, revision_id)
