"""What follows a run: another try, the candidates of a field and the choice of one, what was said."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app import presenters
from agents_app.api import schema, tries_schema
from agents_app.api.agents import answer, wait_of
from agents_app.runs.lifecycle import find_run
from agents_app.runs.retention import run_messages
from agents_app.runs.retry import Candidate, retry_run, run_candidates, stage_candidate
from content.store import iso
from core.api.body import Body, Words, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet
from core.json import JsonObject


class Retry(Body):
    note: Words = ""


class TryViewSet(ApiViewSet):
    """Tries at a run."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retry": ("agents.dropdown", "agents.field", "agents.global", "agents.edit"),
        "candidates": "agents.view",
        "stage": "agents.field",
        "transcript": "agents.edit",
    }

    @extend_schema(
        parameters=schema.MADE_WAITING,
        request=Retry,
        responses={200: schema.RunSchema, 201: schema.RunSchema},
    )
    def retry(self, request: Request, run_id: str) -> Response:
        """Run an agent again with the input of a run that is finished, and a note on it."""
        body, wait = read_body(request, Retry), wait_of(request)
        run = retry_run(run_id=run_id, actor=self.actor, note=body.note)
        return answer(run, wait, self.actor)

    @extend_schema(responses=tries_schema.CandidateListSchema)
    def candidates(self, request: Request, run_id: str) -> Response:
        """What all tries at a field answered, oldest first; none for a run that was about no field."""
        run = find_run(run_id=run_id, actor=self.actor)
        return Response({"data": [_candidate(one) for one in run_candidates(run)]})

    @extend_schema(request=None, responses={200: schema.RunSchema})
    def stage(self, request: Request, run_id: str) -> Response:
        """Propose what a run of a field answered: its value goes into AI Review as the agent's words."""
        return Response(presenters.run(stage_candidate(run_id=run_id, actor=self.actor)))

    @extend_schema(parameters=tries_schema.PAGES, responses=tries_schema.TranscriptSchema)
    def transcript(self, request: Request, run_id: str) -> Response:
        """What was said in a run, without secrets and words of visitors. Kept for AGENT_TRANSCRIPT_DAYS."""
        page = page_of(request)
        messages = run_messages(find_run(run_id=run_id, actor=self.actor), self.actor)
        rows = [
            {
                "n": message.number,
                "role": message.role,
                "name": message.name,
                "text": message.text,
                "isCut": message.is_cut,
                "at": iso(message.created_at),
            }
            for message in messages[page.slice]
        ]
        return Response(page.envelope(rows, messages.count()))


def _candidate(one: Candidate) -> JsonObject:
    return {
        "runId": str(one.run_id),
        "value": one.value,
        "note": one.note,
        "createdAt": iso(one.created_at),
        "status": one.status,
        "isStaged": one.is_staged,
    }
