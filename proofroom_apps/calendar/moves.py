"""Moving an entry of the calendar to another time, by the service of what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.layers.schedule import move_approval
from content.models import Post
from content.posts.edit import edit_post
from content.store.publish_permissions import PUBLISH
from content.store.scopes import changeable_by
from media.models import Asset
from media.scopes import changeable_assets
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotFound
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.json import format_time
from proofroom_apps.calendar.entries import CalendarEntry, EntrySource, find_entry
from proofroom_apps.comments.models import Comment
from proofroom_apps.comments.queries import require_comment
from proofroom_apps.comments.services import change_comment
from proofroom_apps.releases.queries import MANAGE
from proofroom_apps.releases.services import change_release, lock_release
from proofroom_apps.steps.services import change_due

APPROVE: Final = "posts.review.approve"


@dataclass(frozen=True, slots=True)
class EntryMove:
    """A move. `seen_at`: when the entry was at the time of the decision. `time_zone`: where `at` was chosen."""

    entry: CalendarEntry
    seen_at: datetime
    at: datetime
    time_zone: str = ""


def require_entry(source: EntrySource, entry_id: UUID, actor: Actor) -> CalendarEntry:
    """Return an entry as it is now. Raises `NotFound`."""
    entry = find_entry(source, entry_id, actor)
    if entry is None:
        raise NotFound(_("This is no longer in the calendar."))
    return entry


def find_movable(entries: Iterable[CalendarEntry], actor: Actor) -> set[tuple[EntrySource, UUID]]:
    """Return the source and id of each entry that the actor may move. The service of each decides again.

    No query without limits of the actor, else at most four.
    """
    wanted = [entry for entry in entries if not entry.is_past and _may_move(entry.source, actor)]
    if actor.scopes:
        post_ids = {entry.post_id for entry in wanted if entry.post_id is not None}
        asset_ids = {entry.asset_id for entry in wanted if entry.asset_id is not None}
        posts = changeable_by(Post.objects.filter(pk__in=post_ids), actor)
        assets = changeable_assets(Asset.objects.filter(pk__in=asset_ids), actor)
        inside: set[UUID | None] = {None, *posts.values_list("pk", flat=True)}
        inside |= set(assets.values_list("pk", flat=True))
        wanted = [entry for entry in wanted if {entry.post_id, entry.asset_id} <= inside]
    return {(entry.source, entry.id) for entry in wanted}


@transaction.atomic
def move_entry(move: EntryMove, actor: Actor) -> None:
    """Move an entry. Raises what its service raises, and `Conflict` if it is no longer at `seen_at`."""
    _MOVES[move.entry.source](move, actor)


def _may_move(source: EntrySource, actor: Actor) -> bool:
    if not actor.is_person:
        return False
    if source == "publication":
        # Translators may change drafts.
        return actor.can(PUBLISH) and (actor.can("posts.edit") or actor.can("posts.translate"))
    if source == "expiry":
        return actor.can(PUBLISH) and actor.can("posts.edit")
    if source == "release":
        return actor.is_session and actor.can(MANAGE)
    if source == "changes":
        return actor.is_session and actor.can(APPROVE)
    return actor.can(APPROVE if source == "step" else "comments.write")


def _require_unmoved(present: datetime | None, move: EntryMove) -> None:
    # Pages and documents name milliseconds.
    if format_time(present) == format_time(move.seen_at):
        return
    if present is None:
        raise Conflict(_("This no longer has a date. Somebody removed it, or it has happened."))
    message = _("Somebody has moved this to %(time)s since you opened the calendar.")
    raise Conflict(message % {"time": exact_time(present)})


def _move_date_of_post(name: str) -> Callable[[EntryMove, Actor], None]:
    """Return a function that sets a date of a post by wire name."""

    def run(move: EntryMove, actor: Actor) -> None:
        def edit(document: PostDocument) -> PostDocument:
            # The locked post, so that nobody moves it in between.
            present = document.fields.get(name)
            _require_unmoved(datetime.fromisoformat(str(present)) if present else None, move)
            return document.with_fields({name: format_time(move.at)})

        edit_post(post_id=move.entry.id, actor=actor, edit=edit)

    return run


def _move_changes(move: EntryMove, actor: Actor) -> None:
    move_approval(
        post_id=str(move.entry.post_id),
        schedule_id=move.entry.id,
        actor=actor,
        at=move.at,
        expected_at=move.seen_at,
    )


def _move_release(move: EntryMove, actor: Actor) -> None:
    actor.require_person("change a release")
    actor.require(MANAGE)
    _require_unmoved(lock_release(move.entry.id).at, move)
    change_release(release_id=move.entry.id, actor=actor, at=move.at, time_zone=move.time_zone)


def _move_thread(move: EntryMove, actor: Actor) -> None:
    rows = Comment.objects.select_for_update(of=("self",))
    _require_unmoved(require_comment(move.entry.id, actor, rows).due_at, move)
    change_comment(comment_id=move.entry.id, actor=actor, due_at=move.at)


def _move_step(move: EntryMove, actor: Actor) -> None:
    change_due(
        post_id=move.entry.id,
        actor=actor,
        step=move.entry.step,
        due_at=move.at,
        expected_at=move.seen_at,
    )


_MOVES: Final[dict[EntrySource, Callable[[EntryMove, Actor], None]]] = {
    "publication": _move_date_of_post("publishAt"),
    "expiry": _move_date_of_post("unpublishAt"),
    "changes": _move_changes,
    "release": _move_release,
    "comment": _move_thread,
    "step": _move_step,
}
