"""Releases and their items, for people who manage them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom_apps.releases.models import Release, ReleaseItem, ReleaseRun

MANAGE = "releases.manage"


def list_releases(actor: Actor) -> QuerySet[Release]:
    """Return all releases with `item_count`, newest first. Raises `NotAllowed`."""
    actor.require(MANAGE)
    return counted_releases().order_by("-created_at", "pk")


def counted_releases() -> QuerySet[Release]:
    """Return all releases with `item_count`."""
    return Release.objects.annotate(item_count=Count("items"))


def find_release(release_id: UUID | str, actor: Actor) -> Release:
    """Return a release with `item_count`. Raises `NotFound`."""
    release = find_by_id(list_releases(actor), release_id)
    if release is None:
        raise release_not_found()
    return release


def release_not_found() -> NotFound:
    return NotFound(_("Release not found."))


def list_items(release: Release) -> QuerySet[ReleaseItem]:
    """Return the items of a release in the order in which they were added."""
    return release.items.select_related("added_by").order_by("pk")


def latest_run(release: Release) -> ReleaseRun | None:
    """Return the last publication or undo of a release. One query."""
    return release.runs.order_by("-created_at").first()
