"""Preview links of releases: temporary read access to the site as of a release."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom_apps.previews.services import (
    USUAL_HOURS,
    count_view,
    expiry_after,
    find_link,
    save_link,
    why_closed,
)
from proofroom_apps.releases.models import ReleasePreviewLink
from proofroom_apps.releases.preview import ReleasePreview, show_release, viewable_kinds
from proofroom_apps.releases.queries import MANAGE, find_release
from proofroom_apps.releases.services import lock_release, record_event, require_editable

PREVIEW: Final = "posts.preview"


def list_release_links(release_id: UUID | str, actor: Actor) -> QuerySet[ReleasePreviewLink]:
    """Return the links of a release that were not revoked, newest first. Raises `NotAllowed` and `NotFound`."""
    actor.require(PREVIEW)
    return find_release(release_id, actor).preview_links.order_by("-created_at", "pk")


@transaction.atomic
def create_release_link(
    *, release_id: UUID | str, actor: Actor, hours: int = USUAL_HOURS
) -> tuple[ReleasePreviewLink, str]:
    """Return a new link to a release that waits, and the token that opens it. The token is not stored."""
    _require_previewer(actor)
    expires_at = expiry_after(hours)
    release = lock_release(release_id)
    require_editable(release)
    link = ReleasePreviewLink(release=release, expires_at=expires_at, kinds=viewable_kinds(actor))
    link, token = save_link(link, actor)
    record_event("release.preview-link.created", release, actor, link=str(link.pk))
    return link, token


@transaction.atomic
def revoke_release_link(*, release_id: UUID | str, link_id: UUID | str, actor: Actor) -> None:
    """Revoke a link of this release."""
    _require_previewer(actor)
    release = lock_release(release_id)
    link = find_by_id(release.preview_links, link_id)
    if link is None:
        raise NotFound(_("This release has no preview link %(link_id)s.") % {"link_id": link_id})
    record_event("release.preview-link.revoked", release, actor, link=str(link.pk))
    link.delete()


def open_release_link(token: str, *, counts: bool) -> ReleasePreviewLink | None:
    """Return the link of a token. None if it is unknown, revoked or expired, or the release is deleted."""
    links = ReleasePreviewLink.objects.select_related("release", "created_by")
    link = find_link(links, token)
    if link is None or closed_reason(link) is not None:
        return None
    if counts:
        count_view(link)
    return link


def closed_reason(link: ReleasePreviewLink) -> str | None:
    """Return why a link does not work, None for an open one."""
    maker = link.created_by
    may_show = maker is not None and maker.has_perm(MANAGE) and maker.has_perm(PREVIEW)
    return why_closed(link, may_show)


def show_link(link: ReleasePreviewLink) -> AbstractContextManager[ReleasePreview]:
    """Return the block that shows the site as of a link's release, with what its creator may view."""
    if link.created_by is None:
        raise ValueError("a link without creator is closed")
    return show_release(link.release, Actor(user=link.created_by, via="site"), link.kinds)


def open_for_delivery(token: str) -> AbstractContextManager[ReleasePreview] | None:
    """Return the block that shows what a token opens, or None. A read of the delivery API is no view."""
    link = open_release_link(token, counts=False)
    return show_link(link) if link is not None else None


def _require_previewer(actor: Actor) -> None:
    actor.require(MANAGE)
    actor.require(PREVIEW)
