"""The kinds of items of a release. Each uses the services that make the same change without a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Model
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.changes import Change
from content.document.differences import base_path
from content.event_kinds import RELEASE
from content.layers import LayerView, approve, digest_of, open_layers, open_layers_of_many
from content.layers.approve import require_approvable
from content.layers.restage import marks_to_restage, restage
from content.layers.revert import revert_to_revision
from content.layers.schedule import approvals_of, stale_labels
from content.layers.selection import require_unchanged
from content.layers.trial import show_approved, show_published
from content.models import (
    Draft,
    Layer,
    ModuleInstance,
    Post,
    Revision,
    ScheduledApproval,
    Status,
)
from content.post_checks.results import require_live_change, require_publishable
from content.posts.publish import move_status
from content.posts.undo import record_status, restore_status
from content.rules.publication_gates import find_approval_obstacles, find_publication_obstacles
from content.store import post_repository
from content.store.digest import read_digest
from content.store.joint_moves import JointMoves, Place, place_columns
from content.store.layer_state import lock_post
from content.store.post_queries import published_posts, require_post
from content.store.publish_permissions import PUBLISH
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, RuleViolation, invalid
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import (
    find_waiting_proposal,
    release_proposal,
    require_releasable,
    waiting_proposals,
)
from proofroom.shared_content.revisions import RESTORED
from proofroom.shared_content.shared_types import (
    GLOBAL_MODULE,
    MENU,
    TERM,
    SharedKind,
    find_kind,
)
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.releases.models import WAITING, Release, ReleaseItem
from seo.models import Redirect, RedirectChanges
from seo.services.redirects import change_redirect, require_redirect_editor

CONFLICTS_AT_ONCE: Final = 100
PLACE_PATHS: Final = frozenset({"post.slug", "post.parentId"})
"""Paths whose changes move a post."""
EXPIRY_PATH: Final = "post.unpublishAt"

Conflicts = dict[int, str]
"""Why items could not go live now, by the id of the item."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """What an item stores about its object."""

    title: str
    paths: Sequence[str] = ()
    digest: str = ""


class ItemKind(ABC):
    """A kind of items.

    `permission` is asked of who publishes, `undo_permission` of who undoes, `view_permission` of who previews what
    waits. `model` is the table of the objects.
    """

    name: ClassVar[str]
    label: ClassVar[Promise]
    permission: ClassVar[str]
    undo_permission: ClassVar[str]
    view_permission: ClassVar[str]
    model: type[Model]

    @abstractmethod
    def read(
        self, object_id: UUID, paths: Sequence[str] | None, digest: str | None, actor: Actor
    ) -> NewItem:
        """Return what a new item stores. Locks the object. Raises `NotFound`, `RuleViolation` and `Conflict`."""

    @abstractmethod
    def find_conflicts(self, items: Sequence[ReleaseItem], at: datetime) -> Conflicts:
        """Return why items could not go live at a time. A fixed number of queries, without rules of the content."""

    @abstractmethod
    def judge(self, item: ReleaseItem, actor: Actor, changed: Collection[UUID]) -> None:
        """Raise why the item may not go live now, by all rules. `changed`: posts whose changes go live before it."""

    @abstractmethod
    def apply(self, item: ReleaseItem, actor: Actor) -> JsonObject:
        """Make the item live, and return what its undo needs."""

    @abstractmethod
    def undo(self, item: ReleaseItem, actor: Actor) -> str:
        """Restore the state before the item. The object is locked and unchanged since.

        Returns which part of the change does not wait again, in words; empty if nothing is lost.
        """

    @abstractmethod
    def show(self, item: ReleaseItem, actor: Actor, at: datetime) -> None:
        """Write what visitors would see from `at` on, without the rules of publication. Only in trial writes.

        Raises `CmsError` for what the actor may not view, and for what could not go live. The object is locked.
        """

    @abstractmethod
    def versions(self, ids: Collection[UUID]) -> dict[UUID, str]:
        """Return a value by id that differs after any change of the object. One query."""

    def lock(self, ids: Collection[UUID]) -> None:
        """Lock objects in a fixed order until the end of the transaction."""
        rows = self.model._default_manager.select_for_update(of=("self",), no_key=True)
        list(rows.filter(pk__in=ids).order_by("pk").values_list("pk"))


def _refuse_paths(paths: Sequence[str] | None) -> None:
    if paths is not None:
        raise invalid("paths", _("Only changes of a post have paths."))


class _PostKind(ItemKind):
    view_permission = "posts.view"
    model = Post

    def versions(self, ids: Collection[UUID]) -> dict[UUID, str]:
        rows = Post.objects.kept().filter(pk__in=ids).values_list("pk", "version")
        return {pk: str(version) for pk, version in rows}

    def _posts_of(self, items: Sequence[ReleaseItem], found: Conflicts) -> dict[UUID, Post]:
        """Return the posts of items. Items whose posts are gone are in `found`. One query."""
        posts = Post.objects.in_bulk({item.object_id for item in items})
        for item in items:
            post = posts.get(item.object_id)
            if post is None:
                found[item.pk] = _("The post was deleted.")
            elif post.deleted_at is not None:
                found[item.pk] = _("The post is in the trash.")
                del posts[post.pk]
        return posts


def _expires_before(post: Post, at: datetime, but: Collection[UUID]) -> str:
    """Return that a post leaves the site before a time; empty if it doesn't, or if its release changes that."""
    if post.unpublish_at is None or post.unpublish_at > at or post.pk in but:
        return ""
    message = _("The post expires before the release, at %(at)s.")
    return message % {"at": exact_time(post.unpublish_at)}


def _with_new_dates(items: Sequence[ReleaseItem]) -> set[UUID]:
    """Return the posts whose changes in the release contain another expiry. One query."""
    rows = ReleaseItem.objects.filter(
        release=items[0].release_id,
        kind=ChangesKind.name,
        object_id__in={item.object_id for item in items},
    )
    return {pk for pk, paths in rows.values_list("object_id", "paths") if EXPIRY_PATH in paths}


class PostKind(_PostKind):
    """The publication of a draft."""

    name = "post"
    label = gettext_lazy("Publication")
    permission = undo_permission = PUBLISH

    def read(
        self, object_id: UUID, paths: Sequence[str] | None, digest: str | None, actor: Actor
    ) -> NewItem:
        _refuse_paths(paths)
        if digest is not None:
            raise invalid("digest", _("Only changes have a digest."))
        require_post(object_id, actor)
        post = lock_post(object_id, actor)
        if post.status != Status.DRAFT or post.variation_of_id is not None:
            raise invalid(
                "id", _("Only a draft can be published by a release."), code="not_a_draft"
            )
        return NewItem(post.title)

    def find_conflicts(self, items: Sequence[ReleaseItem], at: datetime) -> Conflicts:
        found = Conflicts()
        posts, dated = self._posts_of(items, found), _with_new_dates(items)
        for item in items:
            if (post := posts.get(item.object_id)) is None:
                continue
            if post.status == Status.PUBLISHED:
                found[item.pk] = _("The post is published already.")
            elif post.status != Status.DRAFT:
                found[item.pk] = _("The post is no longer a draft.")
            elif post.locale not in settings.CMS_ENV.locales:
                names = {"locale": post.locale}
                found[item.pk] = _("The site no longer has the language %(locale)s.") % names
            elif sentence := _expires_before(post, at, dated):
                found[item.pk] = sentence
            elif post.publish_at is not None and post.publish_at < at:
                message = _("The post is published before the release, at %(at)s.")
                found[item.pk] = message % {"at": exact_time(post.publish_at)}
        ready = [item for item in items if item.pk not in found]
        texts = find_publication_obstacles([posts[item.object_id] for item in ready])
        return found | {item.pk: text for item, text in zip(ready, texts, strict=True) if text}

    def judge(self, item: ReleaseItem, actor: Actor, changed: Collection[UUID]) -> None:
        actor.require_session("publish a release")
        actor.require(PUBLISH)
        post = lock_post(item.object_id, actor)
        # With its changes it is another document, which only the publication itself has.
        if post.pk not in changed:
            if post.is_placeholder:
                message = _("This post was created by an agent. Approve its content first.")
                raise RuleViolation(message, code="not_approved")
            require_publishable(post, post_repository.load(post))

    def apply(self, item: ReleaseItem, actor: Actor) -> JsonObject:
        post = lock_post(item.object_id, actor)
        before = record_status(post)
        move_status(post=post, status=Status.PUBLISHED, actor=actor, live_cause=RELEASE)
        return before

    def undo(self, item: ReleaseItem, actor: Actor) -> str:
        post = lock_post(item.object_id, actor)
        restore_status(post_id=post.pk, version=post.version, before=item.before, actor=actor)
        return ""

    def show(self, item: ReleaseItem, actor: Actor, at: datetime) -> None:
        show_published(lock_post(item.object_id, actor, heeds_page_lock=False), at=at)


class ChangesKind(_PostKind):
    """Changes of a post that wait in Review."""

    name = "changes"
    label = gettext_lazy("Changes")
    permission = "posts.review.approve"
    undo_permission = "posts.revisions.manage"

    def read(
        self, object_id: UUID, paths: Sequence[str] | None, digest: str | None, actor: Actor
    ) -> NewItem:
        seen = read_digest(digest or "")
        post = lock_post(object_id, actor)
        layers = open_layers(post)
        selection = require_unchanged(layers.review, seen, paths)
        wanted = list(dict.fromkeys(selection.paths if paths is None else paths))
        if not wanted:
            raise RuleViolation(_("There are no changes to release."), code="nothing_staged")
        changed = {base_path(path) for path in wanted}
        for approval in approvals_of(post).filter(failed_at__isnull=True):
            if taken := sorted(changed.intersection(map(base_path, approval.paths))):
                message = _("These changes are scheduled already: %(paths)s.")
                raise RuleViolation(
                    message % {"paths": ", ".join(taken)},
                    code="already_scheduled",
                    details={"paths": [message % {"paths": ", ".join(taken)}]},
                )
        # Without what is staged at other paths, which may change until then.
        narrowed = digest_of(change for change in layers.review.changes if change.path in changed)
        title = str(layers.review.document.fields.get("title") or post.title)
        return NewItem(title, wanted, narrowed)

    def find_conflicts(self, items: Sequence[ReleaseItem], at: datetime) -> Conflicts:
        found = Conflicts()
        posts, dated = self._posts_of(items, found), _with_new_dates(items)
        layers = {one.post.pk: one for one in open_layers_of_many(list(posts.values()))}
        for item in items:
            if item.object_id not in posts:
                continue
            if labels := stale_labels(item.paths, item.digest, layers[item.object_id].review):
                message = _("Changed or decided since it was added: %(labels)s.")
                found[item.pk] = message % {"labels": labels}
            elif sentence := _expires_before(posts[item.object_id], at, dated):
                found[item.pk] = sentence
        found = {**self._find_scheduled(items), **found}
        ready = [item for item in items if item.pk not in found]
        texts = find_approval_obstacles(
            [
                (posts[item.object_id], _changes_at(item.paths, layers[item.object_id].review))
                for item in ready
            ]
        )
        return found | {item.pk: text for item, text in zip(ready, texts, strict=True) if text}

    def _find_scheduled(self, items: Sequence[ReleaseItem]) -> Conflicts:
        """Return which items have changes that are scheduled without the release. One query."""
        rows = ScheduledApproval.objects.filter(
            post__in={item.object_id for item in items}, failed_at__isnull=True
        )
        scheduled: dict[UUID, list[ScheduledApproval]] = {}
        for row in rows.order_by("at"):
            scheduled.setdefault(row.post_id, []).append(row)
        found = Conflicts()
        for item in items:
            own = set(map(base_path, item.paths))
            for row in scheduled.get(item.object_id, ()):
                if not own.isdisjoint(map(base_path, row.paths)):
                    message = _("The same changes are scheduled for %(at)s. Remove one of both.")
                    found.setdefault(item.pk, message % {"at": exact_time(row.at)})
        return found

    def judge(self, item: ReleaseItem, actor: Actor, changed: Collection[UUID]) -> None:
        post = lock_post(item.object_id, actor)
        approval = require_approvable(post=post, actor=actor, digest=item.digest, paths=item.paths)
        require_live_change([(post, approval.layers.live, approval.document)])

    def apply(self, item: ReleaseItem, actor: Actor) -> JsonObject:
        marks = marks_to_restage(item.object_id, item.paths)
        post, revision = approve(
            post_id=item.object_id,
            actor=actor,
            digest=item.digest,
            paths=item.paths,
            live_cause=RELEASE,
        )
        earlier = post.revisions.filter(version__lt=revision.version).order_by("-version")
        before = str(earlier.values_list("pk", flat=True)[:1].get())
        return {"revision": before, "approved": str(revision.pk), "marks": marks}

    def undo(self, item: ReleaseItem, actor: Actor) -> str:
        before = item.before
        post = revert_to_revision(
            post_id=item.object_id, revision_id=before["revision"], actor=actor, note="undo"
        )
        # Releases of an earlier version stored neither.
        if "approved" not in before:
            return ""
        left = restage(
            post=post, revision_id=before["approved"], marks=before["marks"], actor=actor
        )
        if not left:
            return ""
        message = _("Not staged again in Review, because other changes wait there: %(labels)s.")
        return message % {"labels": left}

    def show(self, item: ReleaseItem, actor: Actor, at: datetime) -> None:
        show_approved(
            lock_post(item.object_id, actor, heeds_page_lock=False),
            digest=item.digest,
            paths=item.paths,
        )


def _changes_at(paths: Collection[str], review: LayerView) -> list[Change]:
    wanted = {base_path(path) for path in paths}
    return [change for change in review.changes if change.path in wanted]


class SharedItemKind(ItemKind):
    """The waiting change of a menu, term or global module. The rules of its kind say who may make it live."""

    shared_name: ClassVar[str]

    @property
    def kind(self) -> SharedKind:
        return find_kind(self.shared_name)

    def read(
        self, object_id: UUID, paths: Sequence[str] | None, digest: str | None, actor: Actor
    ) -> NewItem:
        _refuse_paths(paths)
        actor.require(self.permission)
        self.lock([object_id])
        if self.kind.find(object_id) is None:
            raise NotFound(_("Nothing has the ID %(id)s.") % {"id": object_id})
        proposal = find_waiting_proposal(self.shared_name, object_id)
        if proposal is None:
            message = _("No change of it waits. Mark “Keep for a release” in its form, and save.")
            raise invalid("id", message, code="nothing_staged")
        if digest not in (None, _digest_of_proposal(proposal)):
            message = _("The change was edited in the meantime. Load it again.")
            raise Conflict(message, code="stale_proposal", current=proposal.version)
        return NewItem(proposal.title, digest=_digest_of_proposal(proposal))

    def find_conflicts(self, items: Sequence[ReleaseItem], at: datetime) -> Conflicts:
        ids = {item.object_id for item in items}
        versions = self.versions(ids)
        rows = waiting_proposals().filter(kind=self.shared_name, row_id__in=ids)
        proposals = {proposal.row_id: proposal for proposal in rows}
        found = Conflicts()
        for item in items:
            proposal = proposals.get(item.object_id)
            if item.object_id not in versions:
                found[item.pk] = _("It was deleted.")
            elif proposal is None:
                found[item.pk] = _("Its change was decided or withdrawn.")
            elif _digest_of_proposal(proposal) != item.digest:
                found[item.pk] = _("Its change was edited since it was added.")
            elif str(proposal.base_version) != versions[item.object_id]:
                found[item.pk] = _("It has changed since its change was written.")
        return found

    def judge(self, item: ReleaseItem, actor: Actor, changed: Collection[UUID]) -> None:
        require_releasable(self.kind, self._proposal_of(item), actor)

    def apply(self, item: ReleaseItem, actor: Actor) -> JsonObject:
        proposal = self._proposal_of(item)
        release_proposal(proposal_id=proposal.pk, version=proposal.version, actor=actor)
        return {"document": proposal.base}

    def undo(self, item: ReleaseItem, actor: Actor) -> str:
        self.kind.write(
            row_id=item.object_id,
            document=item.before["document"],
            actor=actor,
            expected_version=None,
            reason=RESTORED,
        )
        return ""

    def show(self, item: ReleaseItem, actor: Actor, at: datetime) -> None:
        row = self.kind.find(item.object_id)
        if row is None:
            raise NotFound(_("It was deleted."))
        self.kind.with_document(row, self._proposal_of(item).document).save(force_update=True)

    def versions(self, ids: Collection[UUID]) -> dict[UUID, str]:
        rows = self.model._default_manager.filter(pk__in=ids).values_list("pk", "version")
        return {pk: str(version) for pk, version in rows}

    def _proposal_of(self, item: ReleaseItem) -> SharedProposal:
        proposal = find_waiting_proposal(self.shared_name, item.object_id)
        if proposal is None or _digest_of_proposal(proposal) != item.digest:
            raise Conflict(_("Its change was edited or decided."), code="stale_proposal")
        return proposal


class MenuItemKind(SharedItemKind):
    name, shared_name = "menu", MENU
    label = gettext_lazy("Menu")
    permission = undo_permission = view_permission = "menus.edit"
    model = Menu


class TermItemKind(SharedItemKind):
    name, shared_name = "term", TERM
    label = gettext_lazy("Term")
    permission = undo_permission = view_permission = "taxonomies.edit"
    model = Term


class GlobalItemKind(SharedItemKind):
    name, shared_name = "global", GLOBAL_MODULE
    label = gettext_lazy("Global module")
    permission = undo_permission = view_permission = "globals.edit"
    model = ModuleInstance


def _digest_of_proposal(proposal: SharedProposal) -> str:
    return f"{proposal.pk}:{proposal.version}"


class RedirectKind(ItemKind):
    """The activation of an inactive redirect."""

    name = "redirect"
    label = gettext_lazy("Redirect")
    permission = undo_permission = view_permission = "redirects.edit"
    model = Redirect

    def read(
        self, object_id: UUID, paths: Sequence[str] | None, digest: str | None, actor: Actor
    ) -> NewItem:
        _refuse_paths(paths)
        if digest is not None:
            raise invalid("digest", _("Only changes have a digest."))
        actor.require(self.permission)
        self.lock([object_id])
        row = find_by_id(Redirect.objects.all(), object_id)
        if row is None:
            raise NotFound(_("No redirect has the ID %(id)s.") % {"id": object_id})
        if row.is_active:
            message = _("Only an inactive redirect can be activated by a release.")
            raise invalid("id", message, code="already_active")
        return NewItem(f"{row.from_path} → {row.to_path}")

    def find_conflicts(self, items: Sequence[ReleaseItem], at: datetime) -> Conflicts:
        rows = Redirect.objects.in_bulk([item.object_id for item in items])
        paths = [row.from_path for row in rows.values()]
        taken = set(published_posts().filter(path__in=paths).values_list("path", flat=True))
        found = Conflicts()
        for item in items:
            row = rows.get(item.object_id)
            if row is None:
                found[item.pk] = _("The redirect was deleted.")
            elif row.is_active:
                found[item.pk] = _("The redirect is active already.")
            elif row.from_path in taken:
                found[item.pk] = _("A published post has the address %(path)s.") % {
                    "path": row.from_path
                }
        return found

    def judge(self, item: ReleaseItem, actor: Actor, changed: Collection[UUID]) -> None:
        require_redirect_editor(actor)

    def apply(self, item: ReleaseItem, actor: Actor) -> JsonObject:
        self._switch(item, actor, active=True)
        return {}

    def undo(self, item: ReleaseItem, actor: Actor) -> str:
        self._switch(item, actor, active=False)
        return ""

    def show(self, item: ReleaseItem, actor: Actor, at: datetime) -> None:
        Redirect.objects.filter(pk=item.object_id).update(is_active=True)

    def versions(self, ids: Collection[UUID]) -> dict[UUID, str]:
        columns = ("pk", "from_path", "to_path", "type", "is_active")
        rows = Redirect.objects.filter(pk__in=ids).values_list(*columns)
        return {pk: " ".join(map(str, values)) for pk, *values in rows}

    def _switch(self, item: ReleaseItem, actor: Actor, *, active: bool) -> None:
        changes = RedirectChanges(active=active)
        change_redirect(redirect_id=item.object_id, actor=actor, changes=changes)


KINDS: Final[dict[str, ItemKind]] = {
    kind.name: kind
    for kind in (
        TermItemKind(),
        GlobalItemKind(),
        ChangesKind(),
        PostKind(),
        MenuItemKind(),
        RedirectKind(),
    )
}
"""All kinds by name, in the order in which they go live: a post is published with its changes."""
_PLACES: Final = {name: place for place, name in enumerate(KINDS)}


def in_order(items: Iterable[ReleaseItem]) -> list[ReleaseItem]:
    """Return items in the order in which they are checked."""
    return sorted(items, key=lambda item: (_PLACES[item.kind], str(item.object_id)))


def find_moving(
    items: Sequence[ReleaseItem], moves: JointMoves, *, is_undo: bool = False
) -> set[int]:
    """Return the ids of items whose write can change redirects or addresses.

    These writes need the content version, so they come last.
    """
    posts = set(moves.places)
    if is_undo:
        # A redirect at the address of an unpublished post is active again.
        posts |= {item.object_id for item in items if item.kind == PostKind.name}
    return {
        item.pk
        for item in items
        if item.kind in (TermItemKind.name, RedirectKind.name)
        or (item.kind in (ChangesKind.name, PostKind.name) and item.object_id in posts)
    }


def in_write_order(
    items: Iterable[ReleaseItem],
    moves: JointMoves,
    moving: Collection[int],
    *,
    is_undo: bool = False,
) -> list[ReleaseItem]:
    """Return items in the order in which they go live, or are undone. Of posts that move, parents come first."""
    sign = -1 if is_undo else 1

    def place_of(item: ReleaseItem) -> tuple[bool, int, int, str]:
        depth = moves.depth_of(item.object_id) if item.kind == ChangesKind.name else 0
        return item.pk in moving, sign * _PLACES[item.kind], depth, str(item.object_id)

    return sorted(items, key=place_of)


def plan_moves(release_id: UUID) -> JointMoves:
    """Return the posts that get new addresses when the release goes live. Three queries at most."""
    rows = ReleaseItem.objects.filter(release=release_id, kind=ChangesKind.name)
    moving = {
        pk: set(paths) & PLACE_PATHS
        for pk, paths in rows.values_list("object_id", "paths")
        if not PLACE_PATHS.isdisjoint(paths)
    }
    found: dict[UUID, Place] = {}
    for ids in batches(list(moving), CONFLICTS_AT_ONCE):
        drafts = Draft.objects.filter(post__in=ids, layer=Layer.REVIEW, is_empty=False)
        for pk, *columns in drafts.values_list("post_id", *place_columns()):
            slug, parent, live_slug, live_parent = columns
            found[pk] = Place(
                slug or live_slug if "post.slug" in moving[pk] else live_slug,
                parse_uuid(parent or "") if "post.parentId" in moving[pk] else live_parent,
            )
    return JointMoves(found)


def plan_moves_back(items: Iterable[ReleaseItem]) -> JointMoves:
    """Return the posts that get their former addresses when these items are undone. Two queries for each hundred."""
    revisions = [item.before["revision"] for item in items if item.kind == ChangesKind.name]
    found: dict[UUID, Place] = {}
    for ids in batches(revisions, CONFLICTS_AT_ONCE):
        rows = Revision.objects.filter(pk__in=ids)
        for pk, *columns in rows.values_list("post_id", *place_columns()):
            slug, parent, live_slug, live_parent = columns
            place = Place(slug or live_slug, parse_uuid(parent or ""))
            if place != Place(live_slug, live_parent):
                found[pk] = place
    return JointMoves(found)


def by_kind(items: Iterable[ReleaseItem]) -> dict[ItemKind, list[ReleaseItem]]:
    """Return items by kind, in the order in which they go live."""
    found: dict[ItemKind, list[ReleaseItem]] = {}
    for item in in_order(items):
        found.setdefault(KINDS[item.kind], []).append(item)
    return found


def lock_objects(items: Iterable[ReleaseItem]) -> None:
    """Lock the objects of items, so that two releases can't wait for each other. One query for each table."""
    ids: dict[type[Model], set[UUID]] = {}
    by_model = {kind.model: kind for kind in KINDS.values()}
    for item in items:
        ids.setdefault(KINDS[item.kind].model, set()).add(item.object_id)
    # A post may be in a release twice: with its changes, and with its publication.
    for model, kind in by_model.items():
        if model in ids:
            kind.lock(ids[model])


def find_conflicts(items: Sequence[ReleaseItem]) -> Conflicts:
    """Return why items of one release could not go live at its time. At most 24 queries for each hundred items."""
    found = Conflicts()
    if not items:
        return found
    at = items[0].release.at or timezone.now()
    for kind, of_kind in by_kind(items).items():
        for part in batches(of_kind, CONFLICTS_AT_ONCE):
            found |= {**_find_in_others(part), **kind.find_conflicts(part, at)}
    return found


def _find_in_others(items: Sequence[ReleaseItem]) -> Conflicts:
    """Return which items of one kind wait in another release too. One query."""
    others = ReleaseItem.objects.filter(
        object_id__in={item.object_id for item in items},
        kind=items[0].kind,
        release__state__in=WAITING,
    ).exclude(release=items[0].release_id)
    by_object: dict[UUID, list[ReleaseItem]] = {}
    for other in others.select_related("release").order_by("pk"):
        by_object.setdefault(other.object_id, []).append(other)
    found = Conflicts()
    for item in items:
        own = set(map(base_path, item.paths))
        for other in by_object.get(item.object_id, ()):
            if not own or own.intersection(map(base_path, other.paths)):
                found.setdefault(item.pk, in_other_release(other.release))
    return found


def in_other_release(release: Release) -> str:
    message = _("This is in the release “%(name)s” already. Remove it there first.")
    return message % {"name": release.name}


def find_changed_since(items: Sequence[ReleaseItem]) -> Conflicts:
    """Return which items changed since they went live, so that they can't be undone. One query for each kind."""
    found = Conflicts()
    for kind, of_kind in by_kind(items).items():
        versions = kind.versions({item.object_id for item in of_kind})
        for item in of_kind:
            if versions.get(item.object_id) != item.before.get("version"):
                found[item.pk] = _("It was changed or deleted since the release.")
    return found
