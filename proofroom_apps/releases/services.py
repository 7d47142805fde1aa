"""Releases: create, change, schedule and delete them, add and remove items.

Going live and undo are in `runs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import EllipsisType
from typing import Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.differences import base_path
from content.store.joint_moves import moving_together
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, Conflict, NotFound, RuleViolation, invalid
from proofroom.core.i18n.time_zones import find_time_zone, from_local_input
from proofroom.core.json import JsonObject, format_time
from proofroom.core.validation.input_validation import clean_name
from proofroom_apps.releases.kinds import (
    KINDS,
    ChangesKind,
    Conflicts,
    by_kind,
    find_conflicts,
    in_order,
    in_other_release,
    lock_objects,
    plan_moves,
)
from proofroom_apps.releases.models import (
    NAME_MAX,
    TITLE_MAX,
    WAITING,
    Release,
    ReleaseItem,
    ReleaseState,
)
from proofroom_apps.releases.queries import MANAGE, release_not_found

MAX_ITEMS: Final = 1_000
"""Maximum number of items of a release."""
MAX_IN_REQUEST: Final = 25
"""Maximum number of items that are judged and made live in the request. A worker does larger releases."""
MAX_NAMED: Final = 50
"""Maximum number of items that an error names."""


class ReleaseConflict(Conflict):
    """Items that could not go live, or could not be undone. Nothing was written."""

    code = "release_conflict"


def resolve_time(text: str, zone_name: str) -> datetime:
    """Return the UTC time of a text: with an offset as it is, without one in the zone.

    Raises `RuleViolation` on `at`, also for a time that the clocks skip or repeat, and on `timeZone`.
    """
    zone = find_time_zone(zone_name) if zone_name else None
    if zone_name and zone is None:
        raise invalid("timeZone", _("There is no time zone with this name."))
    try:
        if zone is None and datetime.fromisoformat(text).tzinfo is None:
            raise invalid("at", _("Send a time with an offset, or timeZone with it."))
        with timezone.override(zone):
            return from_local_input(text)
    except ValidationError as error:
        raise invalid("at", error.messages[0], code=str(error.code)) from None
    except (ValueError, OverflowError):
        raise invalid("at", _("Send a time like 2030-01-31 09:00.")) from None


@transaction.atomic
def create_release(
    *, name: str, actor: Actor, at: datetime | None = None, time_zone: str = ""
) -> Release:
    """Create a release, which goes live at `at` if given. Raises `NotAllowed` and `RuleViolation` by field."""
    actor.require_person("create a release")
    actor.require(MANAGE)
    release = Release(
        name=clean_name(name, NAME_MAX),
        created_by_id=actor.user.pk,
        created_by_name=actor.user.username,
    )
    if at is not None:
        _set_time(release, at, time_zone, actor)
    release.save(force_insert=True)
    record_event("release.created", release, actor)
    if at is not None:
        record_event("release.scheduled", release, actor)
    return release


@transaction.atomic
def change_release(
    *,
    release_id: UUID | str,
    actor: Actor,
    name: str | None = None,
    at: datetime | EllipsisType | None = ...,
    time_zone: str = "",
) -> Release:
    """Rename a release, set its time, or remove it with `None`.

    To set a time, or another one, approves all items for it. Raises `ReleaseConflict` if one could not go live now.
    """
    actor.require_person("change a release")
    actor.require(MANAGE)
    release = lock_release(release_id)
    require_editable(release)
    if name is not None and (cleaned := clean_name(name, NAME_MAX)) != release.name:
        release.name = cleaned
        record_event("release.changed", release, actor)
    if at is None and release.at is not None:
        actor.require_session("remove a schedule")
        record_event("release.unscheduled", release, actor)
        _clear_time(release)
    elif at is not ... and at is not None and at != release.at:
        _set_time(release, at, time_zone, actor)
        items = list(release.items.all())
        require_ready(items, actor)
        release.items.update(approved_by=actor.user.pk, failure="")
        record_event("release.scheduled", release, actor)
    release.save()
    return release


@transaction.atomic
def delete_release(*, release_id: UUID | str, actor: Actor) -> None:
    """Delete a release. Its items stay as they are."""
    actor.require_person("delete a release")
    actor.require(MANAGE)
    release = lock_release(release_id)
    _refuse_running(release)
    if release.state == ReleaseState.SCHEDULED:
        actor.require_session("delete a scheduled release")
    record_event("release.deleted", release, actor)
    release.delete()


@transaction.atomic
def add_item(
    *,
    release_id: UUID | str,
    kind: str,
    object_id: UUID,
    actor: Actor,
    paths: Sequence[str] | None = None,
    digest: str | None = None,
) -> tuple[ReleaseItem, bool]:
    """Add an item to a release, and return it, and whether it is new. An item that is there already is replaced.

    At a release with a time it is an approval for that time. Raises `NotAllowed`, `NotFound`, `Conflict`
    (`stale_review`) and `RuleViolation`.
    """
    actor.require_person("change a release")
    actor.require(MANAGE)
    release = lock_release(release_id)
    require_editable(release)
    found_kind = KINDS.get(kind)
    if found_kind is None:
        message = _("%(kind)r is no kind of item; known: %(known)s.")
        raise invalid("kind", message % {"kind": kind[:40], "known": ", ".join(sorted(KINDS))})
    item = release.items.filter(kind=kind, object_id=object_id).first()
    is_new = item is None
    if is_new and release.items.count() >= MAX_ITEMS:
        message = _("A release has at most %(most)s items.") % {"most": f"{MAX_ITEMS:,}"}
        raise RuleViolation(message, code="too_many")
    # Locks the object, so that it can't be added to two releases at the same time.
    new = found_kind.read(object_id, paths, digest, actor)
    _refuse_twice(release, kind, object_id, new.paths)
    item = item or ReleaseItem(release=release, kind=kind, object_id=object_id)
    item.title, item.paths, item.digest = new.title[:TITLE_MAX], [*new.paths], new.digest
    item.added_by_id, item.failure, item.approved_by_id = actor.user.pk, "", None
    if release.state == ReleaseState.SCHEDULED:
        actor.require_session("add to a scheduled release")
        item.approved_by_id = actor.user.pk
    item.save()
    if release.state == ReleaseState.SCHEDULED:
        require_ready([item], actor)
    record_event("release.item-added", release, actor, item=item)
    return item, is_new


@transaction.atomic
def remove_item(*, release_id: UUID | str, kind: str, object_id: UUID | str, actor: Actor) -> None:
    """Remove an item from a release. The change itself stays as it is."""
    actor.require_person("change a release")
    actor.require(MANAGE)
    release = lock_release(release_id)
    require_editable(release)
    if release.state == ReleaseState.SCHEDULED:
        actor.require_session("change a scheduled release")
    item = find_item(release, kind, object_id)
    record_event("release.item-removed", release, actor, item=item)
    item.delete()


def find_item(release: Release, kind: str, object_id: UUID | str) -> ReleaseItem:
    """Return an item of a release. Raises `NotFound`."""
    try:
        id_ = UUID(str(object_id))
    except ValueError:
        id_ = None
    item = release.items.filter(kind=kind, object_id=id_).first() if id_ is not None else None
    if item is None:
        raise NotFound(_("This release does not have that item."))
    return item


def require_ready(items: Sequence[ReleaseItem], actor: Actor) -> None:
    """Raise `NotAllowed`, or `ReleaseConflict` with the items that the actor could not make live now.

    In a large release the rules of each item are judged by the worker, before anything goes live.
    """
    actor.require_session("publish a release")
    for kind in by_kind(items):
        actor.require(kind.permission)
    found = find_conflicts(items)
    if len(items) <= MAX_IN_REQUEST:
        left = [item for item in items if item.pk not in found]
        found |= judge(left, {item.pk: actor for item in left})
    if found:
        raise conflict_of(items, found)


def judge(items: Sequence[ReleaseItem], approvers: Mapping[int, Actor]) -> Conflicts:
    """Return why items of one release may not go live now, by all rules and the rights of the approver of each."""
    found = Conflicts()
    if not items:
        return found
    of_release = ReleaseItem.objects.filter(release=items[0].release_id, kind=ChangesKind.name)
    changed = set(of_release.values_list("object_id", flat=True))
    lock_objects(items)
    with moving_together(plan_moves(items[0].release_id)):
        for item in in_order(items):
            try:
                KINDS[item.kind].judge(item, approver_of(item, approvers), changed)
            except CmsError as error:
                found[item.pk] = error.message
    return found


def approver_of(item: ReleaseItem, approvers: Mapping[int, Actor]) -> Actor:
    """Return in whose name an item goes live. Raises `RuleViolation` if the account was deleted."""
    if (actor := approvers.get(item.pk)) is None:
        raise account_deleted()
    return actor


def account_deleted() -> RuleViolation:
    message = _("The account of the person who scheduled this was deleted.")
    return RuleViolation(message, code="account_deleted")


def conflict_of(items: Sequence[ReleaseItem], found: Conflicts) -> ReleaseConflict:
    """Return the error that names the items and what is in the way of each."""
    named = [item for item in items if item.pk in found]
    shown = ", ".join(f"“{item.title}”" for item in named[:3])
    if len(named) > 3:
        shown = f"{shown}, …"
    message = _("Nothing was changed, because of these items: %(items)s.") % {"items": shown}
    details = {
        f"items.{item.kind}.{item.object_id}": [f"{item.title}: {found[item.pk]}"]
        for item in named[:MAX_NAMED]
    }
    return ReleaseConflict(message, details=details)


def lock_release(release_id: UUID | str) -> Release:
    """Return the release, locked until the end of the transaction. Raises `NotFound`."""
    rows = Release.objects.select_for_update(of=("self",), no_key=True)
    release = find_by_id(rows, release_id)
    if release is None:
        raise release_not_found()
    return release


def require_editable(release: Release) -> None:
    """Raise `Conflict` if the release is going live, or has gone live."""
    _refuse_running(release)
    if not release.is_editable:
        raise Conflict(_("This release has gone live already."), code="release_published")


def record_event(
    name: str, release: Release, actor: Actor, *, item: ReleaseItem | None = None, **more: str | int
) -> None:
    """Record an event of a release."""
    payload: JsonObject = {"id": str(release.pk), "name": release.name, **more}
    if release.at is not None:
        payload["at"] = format_time(release.at)
    if item is not None:
        payload["item"] = {"kind": item.kind, "id": str(item.object_id)}
    outbox.record(name, actor=actor, payload=payload)


def _set_time(release: Release, at: datetime, time_zone: str, actor: Actor) -> None:
    actor.require_session("schedule a release")
    if at <= timezone.now():
        raise invalid("at", _("Choose a time in the future."))
    release.at, release.time_zone, release.state = at, time_zone, ReleaseState.SCHEDULED
    release.failure = ""
    release.scheduled_by_id, release.scheduled_by_name = actor.user.pk, actor.user.username


def _clear_time(release: Release) -> None:
    release.at, release.time_zone, release.state = None, "", ReleaseState.OPEN
    release.scheduled_by_id, release.scheduled_by_name = None, ""
    release.items.update(approved_by=None)


def _refuse_running(release: Release) -> None:
    if release.state == ReleaseState.RUNNING:
        raise Conflict(_("This release is going live."), code="release_running")


def _refuse_twice(release: Release, kind: str, object_id: UUID, paths: Sequence[str]) -> None:
    """Raise `RuleViolation` on `id` if the same change waits in another release."""
    others = ReleaseItem.objects.filter(
        object_id=object_id, kind=kind, release__state__in=WAITING
    ).exclude(release=release)
    own = set(map(base_path, paths))
    for other in others.select_related("release").order_by("pk"):
        if not own or own.intersection(map(base_path, other.paths)):
            raise invalid("id", in_other_release(other.release), code="in_other_release")
