"""`/api/agent-runs/:id/chain` and `…/reactions`: what led to a run, and what follows it."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api import following_schema as schema
from agents_app.reactions.presenter import reaction
from agents_app.reactions.reading import reactions_of
from agents_app.runs.chain import chain_of
from agents_app.runs.lifecycle import find_run
from agents_app.runs.presenter import chain
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.schema import PAGES
from core.api.views import ApiViewSet


class FollowingViewSet(ApiViewSet):
    """The neighbours of a run."""

    permissions: ClassVar[dict[str, Declared]] = {
        "chain": "agents.view",
        "reactions": "agents.view",
    }

    @extend_schema(responses=schema.ChainSchema)
    def chain(self, request: Request, run_id: str) -> Response:
        """The events and runs that led to a run, and those that it led to."""
        run = find_run(run_id=run_id, actor=self.actor)
        return Response(chain(chain_of(run), self.actor))

    @extend_schema(parameters=PAGES, responses=schema.ReactionListSchema)
    def reactions(self, request: Request, run_id: str) -> Response:
        """What became of the agent's reactions to a run."""
        page = page_of(request)
        rows = reactions_of(find_run(run_id=run_id, actor=self.actor))
        found = [reaction(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))
