"""`/api/agent-batches`: one agent on many posts."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api import batches_schema as schema
from agents_app.batches.cancelling import cancel_batch
from agents_app.batches.finding import batches, find_batch, progress_of, progress_of_all
from agents_app.batches.presenting import batch_in_full, batch_in_short
from agents_app.batches.reverting import revert_batch
from agents_app.models import AgentBatch
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet


class BatchViewSet(ApiViewSet):
    """Batches: list, read, cancel, revert."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "agents.view",
        "retrieve": "agents.view",
        "cancel": "agents.edit",
        "revert": "agents.edit",
    }

    @extend_schema(parameters=schema.PAGES, responses=schema.BatchListSchema)
    def list(self, request: Request) -> Response:
        """Batches, latest first, each with how far it is."""
        page = page_of(request)
        found = batches(self.actor)
        rows = list(found[page.slice])
        progress = progress_of_all(rows)
        data = [batch_in_short(row, progress[row.pk]) for row in rows]
        return Response(page.envelope(data, found.count()))

    @extend_schema(responses=schema.BatchSchema)
    def retrieve(self, request: Request, batch_id: str) -> Response:
        """A batch, with what came of each post."""
        return _answer(find_batch(batch_id=batch_id, actor=self.actor))

    @extend_schema(request=None, responses={200: schema.BatchSchema})
    def cancel(self, request: Request, batch_id: str) -> Response:
        """Stop all runs of a batch that are not finished."""
        return _answer(cancel_batch(batch_id=batch_id, actor=self.actor))

    @extend_schema(request=None, responses={200: schema.BatchSchema})
    def revert(self, request: Request, batch_id: str) -> Response:
        """Have all that a batch brought taken back; read it again to see what came of each run.

        Also needs `posts.revisions.manage`.
        """
        batch = revert_batch(batch_id=batch_id, actor=self.actor)
        batch.refresh_from_db()
        return _answer(batch)


def _answer(batch: AgentBatch) -> Response:
    return Response(batch_in_full(batch, progress_of(batch)))
