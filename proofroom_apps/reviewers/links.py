"""Reviewer links: created, opened and revoked. Only holders of the address know its token, which is not stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from content.document.changes import Changes
from content.document.differences import SEPARATOR
from content.layers.selection import require_unchanged
from content.models import Layer, Post
from content.store.digest import read_digest
from content.store.layer_state import Layers, LayerView, lock_post, open_layers
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, Conflict, Gone, NotFound, RuleViolation, invalid
from proofroom.core.validation.input_validation import NOT_ON_A_LINE
from proofroom_apps.reviewers.models import NAME_MAX, ReviewerLink

LONGEST_HOURS: Final = 720
USUAL_HOURS: Final = 72
KEPT_DAYS: Final = 30
ADVICE_DAYS: Final = 365
_BYTES: Final = 32
# 32 bytes as Base64 without padding.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


class LinkState(StrEnum):
    """Whether a link works, or why it does not."""

    OPEN = "open"
    REVOKED = "revoked"
    EXPIRED = "expired"
    CHANGED = "changed"
    """One of its changes was decided on or differs from what it was made for."""
    CLOSED = "closed"
    """Its maker may no longer invite reviewers, or the post is in the trash."""


@dataclass(frozen=True, slots=True)
class OpenedReview:
    """The changes behind a link that works."""

    link: ReviewerLink
    view: LayerView
    changes: Changes

    @property
    def post(self) -> Post:
        return self.link.post


@transaction.atomic
def create_reviewer_link(
    *,
    post_id: UUID | str,
    actor: Actor,
    name: str,
    digest: str,
    paths: Collection[str] | None = None,
    hours: int = USUAL_HOURS,
) -> tuple[ReviewerLink, str]:
    """Return a new link to these changes, or to all of the layer that `digest` is of, and the token that opens it.

    Raises `Conflict` (`stale_review`) if one of them differs from what the digest is of.
    """
    actor.require("reviewers.invite")
    actor.require_person("invite reviewers")
    # bool is a subclass of int: True would count as 1 hour.
    if isinstance(hours, bool) or not 1 <= hours <= LONGEST_HOURS:
        message = gettext("expiresInHours must be a whole number from 1 to %(longest_hours)s.") % {
            "longest_hours": LONGEST_HOURS
        }
        raise invalid("expiresInHours", message)
    reviewer = " ".join(NOT_ON_A_LINE.sub(" ", name).split())
    if not reviewer or len(reviewer) > NAME_MAX:
        message = gettext("Enter the name of the reviewer, at most %(n)s characters.")
        raise invalid("name", message % {"n": NAME_MAX})
    post = lock_post(post_id, actor, heeds_page_lock=False)
    actor.require_inside(post.translation_group)
    view, changes = _find_changes(open_layers(post), digest, paths)
    token = secrets.token_urlsafe(_BYTES)
    link = ReviewerLink.objects.create(
        post=post,
        layer=view.layer,
        name=reviewer,
        digest=digest,
        paths=list(changes.paths),
        token_hash=_hash(token),
        expires_at=timezone.now() + timedelta(hours=hours),
        created_by_id=actor.user.pk,
        created_by_name=actor.user.username,
    )
    _record("created", link, actor)
    return link, token


def _find_changes(
    layers: Layers, digest: str, paths: Collection[str] | None
) -> tuple[LayerView, Changes]:
    """Return the layer that the digest is of, and the changes at the paths. Raises as an approval does."""
    if paths is not None and (not paths or any(SEPARATOR in path for path in paths)):
        raise invalid("paths", gettext("Send the paths of whole changes, at least one."))
    seen = read_digest(digest)
    refusals: list[CmsError] = []
    for view in (layers.review, layers.ai_review):
        if not view.exists:
            continue
        try:
            return view, require_unchanged(view, seen, paths).taken
        except (Conflict, RuleViolation) as error:
            refusals.append(error)
    # A change that has moved says more than a path that this layer never had.
    refusals.sort(key=lambda error: not isinstance(error, Conflict))
    raise (
        refusals[0]
        if refusals
        else RuleViolation(gettext("This post has no changes to review."), code="nothing_staged")
    )


@transaction.atomic
def revoke_reviewer_link(*, post_id: UUID | str, link_id: UUID | str, actor: Actor) -> None:
    """End a link of this post. What its reviewer said stays."""
    actor.require("reviewers.invite")
    post = lock_post(post_id, actor, heeds_page_lock=False)
    actor.require_inside(post.translation_group)
    link = find_by_id(post.reviewer_links.select_for_update(of=("self",)), link_id)
    if link is None:
        message = gettext("This post has no reviewer link %(link_id)s.")
        raise NotFound(message % {"link_id": link_id})
    if link.revoked_at is None:
        link.revoked_at = timezone.now()
        link.save(update_fields=["revoked_at"])
        _record("revoked", link, actor)


def open_review(token: str, *, locked: bool = False) -> OpenedReview:
    """Return the changes behind a token.

    Raises `NotFound` for an unknown token, and `Gone` if the link was revoked or has expired, if its changes were
    decided on or differ now, or if its maker may no longer invite reviewers.
    """
    unknown = NotFound(gettext("This link is unknown."))
    if not _TOKEN.fullmatch(token):
        raise unknown
    given = _hash(token)
    links = ReviewerLink.objects.select_related("post", "created_by")
    if locked:
        links = links.select_for_update(of=("self",))
    link = links.filter(token_hash=given).first()
    if link is None or not hmac.compare_digest(link.token_hash, given):
        raise unknown
    gone = Gone(gettext("This link has ended: it was revoked or expired, or the text has changed."))
    if _closed_state(link) is not None:
        raise gone
    view = open_layers(link.post).view(Layer(link.layer))
    changes = unchanged_changes(link, view)
    if changes is None:
        raise gone
    return OpenedReview(link, view, changes)


def unchanged_changes(link: ReviewerLink, view: LayerView) -> Changes | None:
    """Return the changes of a link; None if one of them is no longer as it was."""
    if not view.exists:
        return None
    try:
        return require_unchanged(view, read_digest(link.digest), link.paths).taken
    # RuleViolation: a path is not staged any more, or the key of the digest has changed.
    except (Conflict, RuleViolation):
        return None


def state_of(link: ReviewerLink, view: LayerView) -> LinkState:
    """Return whether a link works. `view` is its layer."""
    closed = _closed_state(link)
    if closed is not None:
        return closed
    return LinkState.OPEN if unchanged_changes(link, view) is not None else LinkState.CHANGED


def _closed_state(link: ReviewerLink) -> LinkState | None:
    if link.revoked_at is not None:
        return LinkState.REVOKED
    if link.expires_at <= timezone.now():
        return LinkState.EXPIRED
    maker = link.created_by
    # Checked at each visit: a link must not outlast the rights of its maker.
    if maker is None or not maker.has_perm("reviewers.invite", link.post):
        return LinkState.CLOSED
    return LinkState.CLOSED if link.post.deleted_at is not None else None


def links_of(post: Post) -> Sequence[ReviewerLink]:
    """Return the links of a post with their advice, newest first. Two queries."""
    found = post.reviewer_links.select_related("created_by").prefetch_related("advice")
    links = list(found.order_by("-created_at", "id"))
    for link in links:
        link.post = post  # no query for the rights of its maker
    return links


def forget_old_links() -> int:
    """Delete links that ended `KEPT_DAYS` ago, those with advice `ADVICE_DAYS` ago. Return their number."""
    now = timezone.now()
    ended = ReviewerLink.objects.filter(expires_at__lt=now - timedelta(days=KEPT_DAYS))
    silent = ended.filter(advice__isnull=True)
    old = ended.filter(expires_at__lt=now - timedelta(days=ADVICE_DAYS))
    ids = {*silent.values_list("pk", flat=True), *old.values_list("pk", flat=True)}
    ReviewerLink.objects.filter(pk__in=ids).delete()
    return len(ids)


def _hash(token: str) -> str:
    # A fast hash is enough: the token has 256 random bits, so guessing is not possible.
    return hashlib.sha256(token.encode()).hexdigest()


def _record(what: str, link: ReviewerLink, actor: Actor) -> None:
    # Without the name: the log is kept longer than the link.
    outbox.record(
        f"post.reviewer-link.{what}",
        actor=actor,
        post_id=link.post_id,
        payload={"id": str(link.pk), "layer": link.layer, "paths": [*link.paths]},
    )
