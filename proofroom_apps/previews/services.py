"""Preview links: created, opened and revoked. Only holders of the address know its token, which is not stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from content.document.document import PostDocument
from content.models import Layer, Post
from content.store.layer_state import lock_post, open_layers
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, invalid
from proofroom.core.hooks import ExtensionPoint
from proofroom_apps.previews.models import PREVIEW_LAYERS, PreviewLink, TemporaryLink

LONGEST_HOURS: Final = 720
USUAL_HOURS: Final = 24
KEPT_DAYS: Final = 30
LAYERS: Final = tuple(name for name, _ in PREVIEW_LAYERS)
_BYTES: Final = 32
# 32 bytes as Base64 without padding.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
AnyLink = TypeVar("AnyLink", bound=TemporaryLink)
link_tables: ExtensionPoint[type[TemporaryLink]] = ExtensionPoint()
"""The tables whose expired links are deleted."""


@dataclass(frozen=True, slots=True)
class OpenedPreview:
    """The post behind a link, with the current content of the layer."""

    link: PreviewLink
    post: Post
    document: PostDocument


def preview_labels(post: Post) -> dict[str, str]:
    """Return the translated labels of the layers that a preview of the post shows, by name."""
    return {name: gettext(label) for name, label in PREVIEW_LAYERS} | {
        "source": post.live_layer_label
    }


@transaction.atomic
def create_preview_link(
    *, post_id: UUID | str, actor: Actor, layer: str, hours: int = USUAL_HOURS
) -> tuple[PreviewLink, str]:
    """Return a new link to a layer of a post, and the token that opens it. The token is not stored."""
    actor.require("posts.preview")
    if layer not in LAYERS:
        raise invalid(
            "layer", gettext("layer must be one of: %(layers)s.") % {"layers": ", ".join(LAYERS)}
        )
    expires_at = expiry_after(hours)
    post = lock_post(post_id, actor, heeds_page_lock=False)
    actor.require_inside(post.translation_group)
    link, token = save_link(PreviewLink(post=post, layer=layer, expires_at=expires_at), actor)
    _record("created", link, actor)
    return link, token


def expiry_after(hours: int) -> datetime:
    """Return the end of a link's lifetime. Raises `RuleViolation` on `expiresInHours`."""
    # bool is a subclass of int: True would count as 1 hour.
    if isinstance(hours, bool) or not 1 <= hours <= LONGEST_HOURS:
        message = gettext("expiresInHours must be a whole number from 1 to %(longest_hours)s.") % {
            "longest_hours": LONGEST_HOURS
        }
        raise invalid("expiresInHours", message)
    return timezone.now() + timedelta(hours=hours)


def save_link(link: AnyLink, actor: Actor) -> tuple[AnyLink, str]:
    """Save a new link of the actor. Return it with the token that opens it, which is not stored."""
    token = secrets.token_urlsafe(_BYTES)
    link.token_hash = _hash(token)
    link.created_by_id, link.created_by_name = actor.user.pk, actor.user.username
    link.save(force_insert=True)
    return link, token


@transaction.atomic
def revoke_preview_link(*, post_id: UUID | str, link_id: UUID | str, actor: Actor) -> None:
    """Revoke a link of this post."""
    actor.require("posts.preview")
    post = lock_post(post_id, actor, heeds_page_lock=False)
    actor.require_inside(post.translation_group)
    link = find_by_id(post.preview_links, link_id)
    if link is None:
        raise NotFound(gettext("This post has no preview link %(link_id)s.") % {"link_id": link_id})
    # Before the deletion, which sets the id to None.
    _record("revoked", link, actor)
    link.delete()


def open_preview(token: str, *, counts: bool = True) -> OpenedPreview | None:
    """Return the post behind a token. None if the token is unknown, revoked or expired, or the post is deleted."""
    link = find_link(PreviewLink.objects.select_related("post", "created_by"), token)
    if link is None or closed_reason(link) is not None or link.post.deleted_at is not None:
        return None
    if counts:
        count_view(link)
    layer = None if link.layer == "source" else Layer(link.layer)
    return OpenedPreview(link, link.post, open_layers(link.post).document(layer))


def find_link(links: QuerySet[AnyLink], token: str) -> AnyLink | None:
    """Return the link of a token, open or not. One query, none for a text that is no token."""
    if not _TOKEN.fullmatch(token):
        return None
    given = _hash(token)
    link = links.filter(token_hash=given).first()
    return link if link is not None and hmac.compare_digest(link.token_hash, given) else None


def count_view(link: TemporaryLink) -> None:
    """Count a visit. One UPDATE, so that concurrent visits are all counted."""
    type(link)._default_manager.filter(pk=link.pk).update(views=F("views") + 1)


def closed_reason(link: PreviewLink) -> str | None:
    """Return why a link does not work: it expired, or its creator may no longer show previews.

    None for an open link.
    """
    maker = link.created_by
    return why_closed(link, maker is not None and maker.has_perm("posts.preview", link.post))


def why_closed(link: TemporaryLink, maker_may_show: bool) -> str | None:
    """Return why a link does not work, None for an open one.

    The right of its creator is checked at each visit: a link must not outlast it.
    """
    if link.expires_at <= timezone.now():
        return "ended"
    return None if maker_may_show else "its maker may no longer show previews"


def forget_old_links(days: int = KEPT_DAYS) -> int:
    """Delete links that expired more than `days` ago. Return their number. Safe to run twice."""
    until = timezone.now() - timedelta(days=days)
    return sum(
        table._default_manager.filter(expires_at__lt=until).delete()[0] for table in link_tables
    )


def _hash(token: str) -> str:
    # A fast hash is enough: the token has 256 random bits, so guessing is not possible.
    return hashlib.sha256(token.encode()).hexdigest()


def _record(what: str, link: PreviewLink, actor: Actor) -> None:
    outbox.record(
        f"post.preview-link.{what}",
        actor=actor,
        post_id=link.post_id,
        payload={"id": str(link.pk), "layer": link.layer},
    )
