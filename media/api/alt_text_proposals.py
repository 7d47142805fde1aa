"""`/api/media/alt-text-proposals`: alt texts that agents and AI clients propose."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from media.models import AltTextProposal
from media.services import alt_text_proposals
from media.services.update import find_asset
from proofroom.core.api.answer import Answer, list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, UUID_TEXT
from proofroom.core.api.views import ApiViewSet


class AltTextProposalAnswer(Answer):
    """A proposed alt text. `before`: the alt text when it was proposed; `by`: the agent or account of its author."""

    id: UUID
    media_id: UUID
    locale: str
    alt: str
    before: str
    state: str = Field(description="`waiting`, `accepted`, `rejected` or `replaced`.")
    reason: str
    by: str
    note: str = Field(description="Why it was rejected.")
    decided_by: str
    created_at: datetime
    decided_at: datetime | None


def _answer(row: AltTextProposal) -> AltTextProposalAnswer:
    return AltTextProposalAnswer.of(
        row, media_id=row.asset_id, alt=row.text, by=row.by_name, decided_by=row.decided_by_name
    )


class AltTextAccepted(Body):
    """The alt text that was shown beside the proposal; without it, the one at the time of proposing."""

    present: Words | None = Field(None, max_length=2000)


class AltTextRejected(Body):
    """The reason, for the author of the proposal."""

    note: Words = Field("", max_length=alt_text_proposals.REASON_MAX)


_PROPOSALS: Final = list_of(AltTextProposalAnswer, "Proposed alt texts.")


class AltTextProposalViewSet(ApiViewSet):
    """Proposed alt texts: list, accept, reject."""

    permissions: ClassVar[dict[str, Declared]] = {
        "waiting": "media.view",
        "list": "media.view",
        "accept": "media.edit",
        "reject": "media.edit",
    }
    path_schemas: ClassVar = {"media_id": UUID_TEXT, "proposal_id": UUID_TEXT}

    @extend_schema(parameters=PAGES, responses=_PROPOSALS)
    def waiting(self, request: Request) -> Response:
        """List the proposals of all files that wait for a decision, oldest first."""
        page = page_of(request)
        rows = alt_text_proposals.waiting_alt_texts(self.actor)
        found = [_answer(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(parameters=PAGES, responses=_PROPOSALS)
    def list(self, request: Request, media_id: str) -> Response:
        """List the proposals for a file, newest first."""
        page = page_of(request)
        rows = alt_text_proposals.proposals_of(find_asset(media_id, self.actor))
        found = [_answer(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(request=AltTextAccepted, responses={200: AltTextProposalAnswer})
    def accept(self, request: Request, proposal_id: str) -> Response:
        """Store the proposed alt text; pages show it immediately. 409 if the alt text is another one now."""
        body = read_body(request, AltTextAccepted)
        done = alt_text_proposals.accept_alt_text(
            proposal_id=proposal_id, actor=self.actor, present=body.present
        )
        return Response(_answer(done))

    @extend_schema(request=AltTextRejected, responses={200: AltTextProposalAnswer})
    def reject(self, request: Request, proposal_id: str) -> Response:
        """Reject a proposal. The file stays unchanged."""
        body = read_body(request, AltTextRejected)
        done = alt_text_proposals.reject_alt_text(
            proposal_id=proposal_id, actor=self.actor, note=body.note
        )
        return Response(_answer(done))
