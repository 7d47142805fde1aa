"""Releases and their items as answers of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from proofroom.core.api.answer import Answer, PersonAnswer, TextOrNull, one_of
from proofroom_apps.releases.kinds import KINDS, find_conflicts
from proofroom_apps.releases.models import (
    Release,
    ReleaseItem,
    ReleaseRun,
    ReleaseState,
    RunKind,
)


class ReleaseProgressAnswer(Answer):
    """A publication or an undo under way: `done` of `total` items are checked. Then all go live at once."""

    kind: Annotated[str, one_of(RunKind.values)]
    done: int = Field(ge=0)
    total: int = Field(ge=0)


class ReleaseAnswer(Answer):
    """A release. `failure` says why the last publication or undo did not succeed."""

    id: UUID
    name: str
    state: Annotated[str, one_of(ReleaseState.values)]
    at: datetime | None = Field(description="The time to go live.")
    time_zone: TextOrNull
    item_count: int = Field(ge=0)
    failure: TextOrNull
    progress: ReleaseProgressAnswer | None = Field(description="Null unless it is running.")
    created_by: PersonAnswer
    created_at: datetime
    published_at: datetime | None
    published_by: TextOrNull = Field(validation_alias="published_by_name")


class ReleaseConflictAnswer(Answer):
    """Why an item could not go live now."""

    message: str


class ReleaseItemAnswer(Answer):
    """An item of a release. `id` is that of the post, menu, term, global module or redirect."""

    kind: Annotated[str, one_of(KINDS)]
    id: UUID = Field(validation_alias="object_id")
    title: str
    paths: list[str]
    digest: TextOrNull
    conflict: ReleaseConflictAnswer | None
    added_by: PersonAnswer | None
    added_at: datetime


def present_releases(releases: Sequence[Release]) -> list[ReleaseAnswer]:
    """Return releases with `item_count` as the API shows them. One query."""
    running = [release.pk for release in releases if release.state == ReleaseState.RUNNING]
    rows = ReleaseRun.objects.filter(release__in=running, state="running")
    runs: Mapping[UUID, ReleaseRun] = {run.release_id: run for run in rows}
    return [
        ReleaseAnswer.of(
            release,
            progress=runs.get(release.pk),
            created_by=PersonAnswer(id=release.created_by_id, username=release.created_by_name),
        )
        for release in releases
    ]


def conflicts_of(release: Release, items: Sequence[ReleaseItem]) -> dict[int, str]:
    """Return what is in the way of items by their id, or of the last attempt. None once the release is live."""
    if not release.is_editable:
        return {item.pk: item.failure for item in items if item.failure}
    failed = {item.pk: item.failure for item in items if item.failure}
    return {**failed, **find_conflicts(items)}


def present_items(release: Release, items: Sequence[ReleaseItem]) -> list[ReleaseItemAnswer]:
    """Return items as the API shows them, each with what is in its way."""
    found = conflicts_of(release, items)
    return [
        ReleaseItemAnswer.of(
            item,
            conflict=ReleaseConflictAnswer(message=found[item.pk]) if item.pk in found else None,
        )
        for item in items
    ]
