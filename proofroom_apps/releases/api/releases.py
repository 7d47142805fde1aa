"""`/api/releases`: sets of changes that go live together."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.api.review import Paths
from proofroom.core.api.answer import Answer, list_of, one_of
from proofroom.core.api.body import Body, Id, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import PAGES, UUID_TEXT, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom_apps.releases.kinds import KINDS
from proofroom_apps.releases.models import NAME_MAX, ReleaseState
from proofroom_apps.releases.presenters import (
    ReleaseAnswer,
    ReleaseItemAnswer,
    present_items,
    present_releases,
)
from proofroom_apps.releases.queries import MANAGE, find_release, list_items, list_releases
from proofroom_apps.releases.runs import publish_release, undo_release
from proofroom_apps.releases.services import (
    add_item,
    change_release,
    create_release,
    delete_release,
    remove_item,
    resolve_time,
)

STATE: Final = query_parameter(
    "state", "State of the release.", choice_schema(*ReleaseState.values)
)
LAUNCH: Final = OpenApiExample(
    "At nine in Berlin",
    {"name": "Spring launch", "at": "2030-03-01T09:00", "timeZone": "Europe/Berlin"},
    request_only=True,
)
CHANGES: Final = OpenApiExample(
    "The changes of a post, as they were seen",
    {"kind": "changes", "id": "3f0c8f6e-4f3c-4c4b-9f55-0d9f3f3b9d11", "digest": "d2.…"},
    request_only=True,
)
_AT: Final = "A time in the future, with an offset, or local to `timeZone`."


class NewRelease(Body, answered_by=ReleaseAnswer):
    """A release. With `at` it goes live at that time."""

    name: Words = Field(min_length=1, max_length=NAME_MAX)
    at: Words | None = Field(None, max_length=40, description=_AT)
    time_zone: Words | None = Field(
        None, max_length=60, description="A name such as `Europe/Berlin`."
    )


class ReleaseChanges(Body, answered_by=ReleaseAnswer):
    """Changes of a release; absent keys stay. `at: null` removes the time."""

    name: Words | None = Field(None, min_length=1, max_length=NAME_MAX)
    at: Words | None = Field(None, max_length=40, description=_AT)
    time_zone: Words | None = Field(None, max_length=60)


class NewReleaseItem(Body, answered_by=ReleaseItemAnswer):
    """An item. `changes` need the `digest` of `GET /api/posts/:id/changes`, and may name `paths`."""

    kind: Annotated[Words, one_of(KINDS)]
    id: Id
    paths: Paths | None = None
    digest: Words | None = None


class ReleaseDeletedAnswer(Answer):
    """The deleted release."""

    id: UUID


class RemovedItemAnswer(Answer):
    """The answer to removing an item."""

    removed: bool


class ReleaseViewSet(ApiViewSet):
    """Releases: list, read, create, change, delete, publish and undo."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": MANAGE,
        "retrieve": MANAGE,
        "create": MANAGE,
        "update": MANAGE,
        "destroy": MANAGE,
        "publish": MANAGE,
        "undo": MANAGE,
    }
    path_schemas: ClassVar = {"release_id": UUID_TEXT}

    @extend_schema(
        parameters=[STATE, *PAGES], responses=list_of(ReleaseAnswer, "Releases, newest first.")
    )
    def list(self, request: Request) -> Response:
        """List releases, newest first."""
        page = page_of(request)
        rows = list_releases(self.actor)
        if state := choice_in(request, "state", ReleaseState.values):
            rows = rows.filter(state=state)
        shown = present_releases(list(rows[page.slice]))
        return Response(page.envelope(shown, rows.count()))

    @extend_schema(responses={200: ReleaseAnswer})
    def retrieve(self, request: Request, release_id: str) -> Response:
        """Return a release."""
        return self._answer(release_id)

    @extend_schema(request=NewRelease, responses={201: ReleaseAnswer}, examples=[LAUNCH])
    def create(self, request: Request) -> Response:
        """Create a release. A time needs a logged-in person."""
        body = read_body(request, NewRelease)
        zone = body.time_zone or ""
        release = create_release(
            name=body.name,
            actor=self.actor,
            at=resolve_time(body.at, zone) if body.at is not None else None,
            time_zone=zone,
        )
        return self._answer(release.pk, status=201)

    @extend_schema(request=ReleaseChanges, responses={200: ReleaseAnswer})
    def update(self, request: Request, release_id: str) -> Response:
        """Rename a release, set its time, or remove it. All items are judged, and again at that time."""
        body = read_body(request, ReleaseChanges)
        find_release(release_id, self.actor)
        zone = body.time_zone or ""
        at = resolve_time(body.at, zone) if body.at is not None else None
        change_release(
            release_id=release_id,
            actor=self.actor,
            name=body.name,
            at=at if "at" in body.model_fields_set else ...,
            time_zone=zone,
        )
        return self._answer(release_id)

    @extend_schema(responses={200: ReleaseDeletedAnswer})
    def destroy(self, request: Request, release_id: str) -> Response:
        """Delete a release. Its items stay as they are."""
        release = find_release(release_id, self.actor)
        delete_release(release_id=release.pk, actor=self.actor)
        return Response(ReleaseDeletedAnswer(id=UUID(release_id)))

    @extend_schema(request=None, responses={200: ReleaseAnswer})
    def publish(self, request: Request, release_id: str) -> Response:
        """Make all items live now, or none. More than 25 items go live in the background: see `progress`."""
        publish_release(release_id=release_id, actor=self.actor)
        return self._answer(release_id)

    @extend_schema(request=None, responses={200: ReleaseAnswer})
    def undo(self, request: Request, release_id: str) -> Response:
        """Restore what was live before the release, unless an item was changed since."""
        undo_release(release_id=release_id, actor=self.actor)
        return self._answer(release_id)

    def _answer(self, release_id: UUID | str, status: int = 200) -> Response:
        [shown] = present_releases([find_release(release_id, self.actor)])
        return Response(shown, status=status)


class ReleaseItemViewSet(ApiViewSet):
    """Items of a release."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": MANAGE,
        "create": MANAGE,
        "destroy": MANAGE,
    }
    path_schemas: ClassVar = {
        "release_id": UUID_TEXT,
        "kind": choice_schema(*KINDS),
        "object_id": UUID_TEXT,
    }

    @extend_schema(
        parameters=PAGES,
        responses=list_of(ReleaseItemAnswer, "Items of a release, with what is in their way."),
    )
    def list(self, request: Request, release_id: str) -> Response:
        """List the items of a release. `conflict` says why one could not go live now."""
        page = page_of(request)
        release = find_release(release_id, self.actor)
        rows = list_items(release)
        shown = present_items(release, list(rows[page.slice]))
        return Response(page.envelope(shown, rows.count()))

    @extend_schema(
        request=NewReleaseItem,
        responses={200: ReleaseItemAnswer, 201: ReleaseItemAnswer},
        examples=[CHANGES],
    )
    def create(self, request: Request, release_id: str) -> Response:
        """Add an item: 201. One that is there already is replaced, with what was now seen of it: 200."""
        body = read_body(request, NewReleaseItem)
        item, is_new = add_item(
            release_id=release_id,
            kind=body.kind,
            object_id=body.id,
            actor=self.actor,
            paths=body.paths,
            digest=body.digest,
        )
        [shown] = present_items(item.release, [item])
        return Response(shown, status=201 if is_new else 200)

    @extend_schema(responses={200: RemovedItemAnswer})
    def destroy(self, request: Request, release_id: str, kind: str, object_id: str) -> Response:
        """Remove an item from a release. The change itself stays as it is."""
        remove_item(release_id=release_id, kind=kind, object_id=object_id, actor=self.actor)
        return Response(RemovedItemAnswer(removed=True))
