"""`/api/personal-data/…`: requests of people about their data, and how long data is kept."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID

from django.http import FileResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, TextOrNull, list_of, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, UUID_TEXT
from proofroom.core.api.views import ApiViewSet
from proofroom.core.background_jobs.models import JobState
from proofroom.core.privacy.declarations import retentions
from proofroom.core.privacy.kinds import Erasure
from proofroom.core.privacy.person import EMAIL_MAX
from proofroom_apps.privacy.models import PersonalDataRequest, RequestAction
from proofroom_apps.privacy.presenters import results_of
from proofroom_apps.privacy.services.export_file import FILENAME, open_export
from proofroom_apps.privacy.services.requests import (
    cancel_request,
    find_request,
    require_manager,
    start_request,
)

ActionText = Annotated[Words, one_of(RequestAction.values)]
EmailText = Annotated[Words, Field(json_schema_extra={"format": "email", "maxLength": EMAIL_MAX})]
ZIP: Final = {(200, "application/zip"): {"type": "string", "format": "binary"}}


class KindResultAnswer(Answer):
    """What was found of one kind of data, and what an erasure does or did with it."""

    kind: str
    label: str
    found: int
    erasure: Annotated[str, one_of([*Erasure])]
    erased: int | None = Field(description="Changed objects; null unless this is an erasure.")
    reason: str = Field(description="What stays and why, or empty.")


class PersonalDataRequestAnswer(Answer):
    """A search, export or erasure of the data about one person."""

    id: UUID
    action: ActionText
    state: Annotated[str, one_of(JobState.values)]
    email: TextOrNull = Field(description="Null after an erasure.")
    account_id: int | None = Field(description="The account with this address.")
    kinds: list[KindResultAnswer] = Field(description="Kinds with at least one object.")
    copies: list[str] = Field(description="Sentences about copies outside of this site.")
    done: int = Field(description="Kinds that were searched.")
    total: int = Field(description="Kinds to search.")
    error: TextOrNull
    file_expires_at: datetime | None = Field(description="The end of the file of an export.")
    created_at: datetime
    ended_at: datetime | None


class NewPersonalDataRequest(Body, answered_by=PersonalDataRequestAnswer):
    """An address, and what to do. An erasure cannot be undone and needs the address again as `confirm`."""

    email: EmailText
    action: ActionText
    confirm: Words = Field("", description="The same address again, for an erasure.")


class RetentionAnswer(Answer):
    """How long a kind of data is kept."""

    name: str
    label: str
    days: int = Field(description="0: until it is deleted.")
    setting: TextOrNull = Field(description="The variable that changes it; null if it is fixed.")


class PersonalDataViewSet(ApiViewSet):
    """Requests about personal data: start, read, cancel, download."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "privacy.manage",
        "create": "privacy.manage",
        "retrieve": "privacy.manage",
        "cancel": "privacy.manage",
        "file": "privacy.manage",
        "retention": "privacy.manage",
    }
    path_schemas: ClassVar = {"request_id": UUID_TEXT}
    files = frozenset({"file"})

    @extend_schema(
        parameters=PAGES,
        responses=list_of(PersonalDataRequestAnswer, "Requests of 30 days, newest first."),
    )
    def list(self, request: Request) -> Response:
        """List requests, newest first."""
        require_manager(self.actor)
        page = page_of(request)
        rows = PersonalDataRequest.objects.order_by("-created_at", "-id")
        data = [_present(row) for row in rows[page.slice]]
        return Response(page.envelope(data, rows.count()))

    @extend_schema(request=NewPersonalDataRequest, responses={201: PersonalDataRequestAnswer})
    def create(self, request: Request) -> Response:
        """Find, export or erase the data of a person. Poll the request until its `state` is not `running`."""
        given = read_body(request, NewPersonalDataRequest)
        job = start_request(**given.model_dump(), actor=self.actor)
        return Response(_present(job), status=201)

    @extend_schema(responses=PersonalDataRequestAnswer)
    def retrieve(self, request: Request, request_id: str) -> Response:
        """Return a request with its results so far."""
        return Response(_present(find_request(request_id, actor=self.actor)))

    @extend_schema(request=None, responses=PersonalDataRequestAnswer)
    def cancel(self, request: Request, request_id: str) -> Response:
        """Stop a request. What was erased stays erased. 409 if it has ended."""
        return Response(_present(cancel_request(request_id=request_id, actor=self.actor)))

    @extend_schema(responses=ZIP)
    def file(self, request: Request, request_id: str) -> FileResponse:
        """Download an export: a ZIP archive with `summary.html` and `data.json`. It expires after a day."""
        job = find_request(request_id, actor=self.actor)
        content = open_export(job, self.actor)
        return FileResponse(content, as_attachment=True, filename=FILENAME)

    @extend_schema(
        parameters=PAGES, responses=list_of(RetentionAnswer, "Retention by kind of data, by name.")
    )
    def retention(self, request: Request) -> Response:
        """List how long each kind of data is kept."""
        require_manager(self.actor)
        page = page_of(request)
        rows = retentions()
        data = [
            RetentionAnswer(
                name=row.name, label=str(row.label), days=row.days, setting=row.setting or None
            )
            for row in rows[page.slice]
        ]
        return Response(page.envelope(data, len(rows)))


def _present(job: PersonalDataRequest) -> PersonalDataRequestAnswer:
    return PersonalDataRequestAnswer(
        id=job.pk,
        action=job.action,
        state=job.state,
        email=job.email or None,
        account_id=job.account_id,
        kinds=[KindResultAnswer.of(result) for result in results_of(job)],
        copies=[str(sentence) for sentence in job.copies],
        done=len(job.results),
        total=job.total,
        error=job.why or None,
        file_expires_at=job.expires_at if job.has_file else None,
        created_at=job.created_at,
        ended_at=job.ended_at,
    )
