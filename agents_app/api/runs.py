"""`/api/agent-runs`: what agents did."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app import presenters
from agents_app.api import schema
from agents_app.api.agents import wait_of, waited
from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.lifecycle import cancel_run, find_run
from agents_app.runs.undo import undo_run
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.errors import invalid

_BY_ID = {"postId": "post_id", "batchId": "batch_id", "causeRun": "cause_run_id"}


class RunViewSet(ApiViewSet):
    """Runs: list, read, cancel, revert."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "agents.view",
        "retrieve": "agents.view",
        "cancel": ("agents.dropdown", "agents.field", "agents.global", "agents.edit"),
        "revert": "posts.revisions.manage",
    }

    @extend_schema(parameters=schema.RUN_PARAMETERS, responses=schema.RunListSchema)
    def list(self, request: Request) -> Response:
        """Runs, latest first."""
        page = page_of(request)
        runs = _filtered(request)
        rows = presenters.with_steps(runs.order_by("-created_at", "pk"))[page.slice]
        return Response(page.envelope([presenters.run(row) for row in rows], runs.count()))

    @extend_schema(parameters=schema.WAIT, responses=schema.RunSchema)
    def retrieve(self, request: Request, run_id: str) -> Response:
        """One run; with `wait`, answered when it is finished or the time is over."""
        wait = wait_of(request)
        run = find_run(run_id=run_id, actor=self.actor)
        if wait:
            run = waited(run, wait, self.actor)
        return Response(presenters.run(run))

    @extend_schema(request=None, responses={200: schema.RunSchema})
    def cancel(self, request: Request, run_id: str) -> Response:
        """Stop a run that is not finished; nothing of it is staged any more."""
        return Response(presenters.run(cancel_run(run_id=run_id, actor=self.actor)))

    @extend_schema(request=None, responses={200: schema.RevertedSchema})
    def revert(self, request: Request, run_id: str) -> Response:
        """Take back all that a run brought, live and staged; what people changed since is kept."""
        return Response(presenters.reverted(run_id, undo_run(run_id=run_id, actor=self.actor)))


def _filtered(request: Request) -> QuerySet[AgentRun]:
    query, runs = request.query_params, AgentRun.objects.all()
    for name, column in _BY_ID.items():
        if name in query:
            runs = runs.filter(**{column: _uuid(name, query[name])})
    for name, values in (("status", RunStatus.values), ("scope", list(Scope))):
        if name in query:
            if query[name] not in values:
                raise invalid(name, f"{name} must be one of {', '.join(values)}.")
            runs = runs.filter(**{name: query[name]})
    if "agentId" in query:
        if "\x00" in query["agentId"]:
            raise invalid("agentId", "agentId must not hold the character NUL.")
        runs = runs.filter(agent_id=query["agentId"])
    return runs


def _uuid(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise invalid(name, f"{name} must be a UUID.") from None
