"""`/api/posts/:id/revisions` and `/provenance`: earlier versions, and the author of each value."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content import layers, presenters
from content.api.post_answers import DocumentAnswer, PostAnswer
from content.models import Post, Provenance, Revision
from content.presenters.layers import DifferenceAnswer, ViaText
from content.presenters.whole_post import present_post
from content.store.layer_state import NOTE_MAX
from content.store.post_queries import require_post
from content.store.revision_queries import differences, find_revision, revisions_of
from proofroom.core.api.answer import (
    Answer,
    AsStored,
    PersonAnswer,
    TextOrNull,
    described,
    list_of,
    one_of,
)
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, UUID_TEXT, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

COMPARE_PARAMETERS: Final = [
    query_parameter("from", "Id of a revision.", UUID_TEXT, required=True),
    query_parameter("to", "Id of a revision.", UUID_TEXT, required=True),
]
PROVENANCE_PARAMETERS: Final = [
    query_parameter("path", "Only this path.", {"type": "string"}),
    *PAGES,
]


class RevisionAnswer(Answer):
    """A version of the live content, with its author."""

    id: UUID
    version: int = Field(ge=0)
    layer: Annotated[str, one_of(["source"])]
    reason: str
    note: str
    by: PersonAnswer
    agent_id: TextOrNull
    run_id: TextOrNull
    created_at: datetime
    changed_paths: list[str]


class WholeRevisionAnswer(RevisionAnswer):
    """A revision with its content."""

    document: Annotated[DocumentAnswer, AsStored()]


class ComparisonAnswer(Answer):
    """The changes between two revisions."""

    from_: UUID = Field(serialization_alias="from")
    to: UUID
    changes: Annotated[list[DifferenceAnswer], AsStored()]


class ProvenanceAnswer(Answer):
    """The author and the approver of the value at a path."""

    path: str
    author: PersonAnswer
    agent_id: TextOrNull
    run_id: TextOrNull
    via: ViaText
    principal: TextOrNull  # the credential of an AI client
    edited_by: TextOrNull = Field(validation_alias="edited_by_name")
    approved_by: PersonAnswer
    revision_id: UUID
    written_at: datetime
    published_at: datetime = Field(validation_alias="created_at")


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

    @extend_schema(parameters=PAGES, responses=list_of(RevisionAnswer, "Revisions, newest first."))
    def list(self, request: Request, post_id: str) -> Response:
        """List revisions without documents, newest first."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        rows = revisions_of(post)
        total = rows.count()
        data = [RevisionAnswer.of(row, **_signature(row)) for row in rows[page.slice]]
        return Response(page.envelope(data, total))

    @extend_schema(responses=WholeRevisionAnswer)
    def retrieve(self, request: Request, post_id: str, revision_id: str) -> Response:
        """Return one revision with its document."""
        row = _revision(require_post(post_id, self.actor), revision_id, "id")
        return Response(WholeRevisionAnswer.of(row, **_signature(row)))

    @extend_schema(parameters=COMPARE_PARAMETERS, responses=ComparisonAnswer)
    def compare(self, request: Request, post_id: str) -> Response:
        """Compare two revisions of the post."""
        post = require_post(post_id, self.actor)
        one = _revision(post, request.query_params.get("from", ""), "from")
        other = _revision(post, request.query_params.get("to", ""), "to")
        rows: list[DifferenceAnswer] = [
            {
                "path": item.path,
                "kind": item.kind,
                "label": item.label,
                "before": presenters.value_as_json(item.before),
                "after": presenters.value_as_json(item.after),
            }
            for item in differences(one, other)
        ]
        return Response(ComparisonAnswer(from_=one.pk, to=other.pk, changes=rows))

    @extend_schema(request=Reversion, responses={200: described(PostAnswer)})
    def revert(self, request: Request, post_id: str, revision_id: str) -> Response:
        """Restore the revision as live content; status and drafts stay."""
        body = read_body(request, Reversion)
        post = require_post(post_id, self.actor)
        row = _revision(post, revision_id, "id")
        post = layers.revert_to_revision(
            post_id=post.pk, revision_id=row.pk, actor=self.actor, note=body.note
        )
        return Response(present_post(post, self.actor))

    @extend_schema(
        parameters=PROVENANCE_PARAMETERS,
        responses=list_of(ProvenanceAnswer, "Provenance, the latest first."),
    )
    def provenance(self, request: Request, post_id: str) -> Response:
        """List author and approver of each live path, latest first."""
        post = require_post(post_id, self.actor)
        page = page_of(request)
        rows = Provenance.objects.filter(post=post).order_by("-id")
        path = request.query_params.get("path")
        if path:
            # PostgreSQL refuses queries for a text with NUL.
            rows = rows.filter(path=path) if "\x00" not in path else rows.none()
        total = rows.count()
        data = [
            ProvenanceAnswer.of(
                row,
                author=PersonAnswer(id=row.author_id, username=row.author_name),
                approved_by=PersonAnswer(id=row.approved_by_id, username=row.approved_by_name),
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, total))


def _signature(row: Revision) -> dict[str, Any]:
    return {"layer": "source", "by": PersonAnswer(id=row.by_id, username=row.by_name)}


def _revision(post: Post, revision_id: str, field: str) -> Revision:
    if not revision_id:
        raise invalid(field, f"{field} must be the id of a revision.")
    return find_revision(post, revision_id)
