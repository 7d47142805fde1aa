"""Undo buttons in the messages about posts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from content.models import Post, Revision, Status
from content.posts.undo import undo_delete, undo_restore, undo_revert, undo_status
from content.store.publish_permissions import status_permission
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import may
from proofroom.core.admin.undo import UndoKind, Undone, undo_button, undo_value
from proofroom.core.json import JsonObject, format_time
from proofroom_apps.editorial.posts.post_pages import post_url


def offer_undo_delete(request: HttpRequest, post: Post) -> SafeString | str:
    if not may(request, "posts.restore"):
        return ""
    at = post.deleted_at.isoformat() if post.deleted_at is not None else None
    arguments: JsonObject = {"post": str(post.pk), "deleted_at": at}
    return undo_button(request, "post.delete", arguments, back=_list_url())


def offer_undo_restore(request: HttpRequest, post: Post) -> SafeString | str:
    if not may(request, "posts.delete"):
        return ""
    arguments: JsonObject = {"post": str(post.pk), "version": post.version}
    return undo_button(request, "post.restore", arguments, back=_list_url())


def undo_copy_value(request: HttpRequest, copy: Post) -> str:
    """Return the value of a button that moves a copy to the trash; empty without permission."""
    if not may(request, "posts.delete"):
        return ""
    arguments: JsonObject = {"post": str(copy.pk), "version": copy.version}
    return undo_value(request, "post.copy", arguments, back=post_url("change", copy))


def offer_undo_status(
    request: HttpRequest,
    post: Post,
    *,
    before: str,
    publish_at: datetime | None,
    unpublish_at: datetime | None = None,
    running: Sequence[UUID] = (),
    was_never_published: bool = False,
) -> SafeString | str:
    """Return an undo button for a status change; empty without permission.

    `post` has the new state; status, dates and running variations are the old ones.
    """
    # Undo sets the old status again, so the permission for that status counts.
    if not may(request, status_permission(before)):
        return ""
    arguments: JsonObject = {
        "post": str(post.pk),
        "version": post.version,
        "status": before,
        "publish_at": format_time(publish_at) if publish_at is not None else None,
        "unpublish_at": format_time(unpublish_at) if unpublish_at is not None else None,
        "running": [str(id_) for id_ in running],
        "never_published": was_never_published,
    }
    return undo_button(request, "post.status", arguments, back=post_url("change", post))


def offer_undo_revert(request: HttpRequest, post: Post, before: Revision) -> SafeString:
    arguments: JsonObject = {
        "post": str(post.pk),
        "version": post.version,
        "revision": str(before.pk),
    }
    return undo_button(request, "post.revert", arguments, back=post_url("revisions", post))


def _list_url() -> str:
    return reverse("admin:content_post_changelist")


def _undo_delete(actor: Actor, arguments: JsonObject) -> Undone:
    at = arguments["deleted_at"]
    post = undo_delete(
        post_id=str(arguments["post"]),
        deleted_at=parse_datetime(at) if isinstance(at, str) else None,
        actor=actor,
    )
    return Undone(_("“%(title)s” was restored.") % {"title": post.title}, post_url("change", post))


def _undo_restore(actor: Actor, arguments: JsonObject) -> Undone:
    post = undo_restore(
        post_id=str(arguments["post"]), version=int(str(arguments["version"])), actor=actor
    )
    return Undone(_("“%(title)s” was moved to the trash.") % {"title": post.title}, _list_url())


def _undo_status(actor: Actor, arguments: JsonObject) -> Undone:
    at, expiry = arguments["publish_at"], arguments.get("unpublish_at")
    running = arguments.get("running")
    post = undo_status(
        post_id=str(arguments["post"]),
        version=int(str(arguments["version"])),
        status=str(arguments["status"]),
        publish_at=parse_datetime(at) if isinstance(at, str) else None,
        unpublish_at=parse_datetime(expiry) if isinstance(expiry, str) else None,
        actor=actor,
        running=[str(id_) for id_ in running] if isinstance(running, list) else [],
        was_never_published=arguments.get("never_published") is True,
    )
    text = {
        Status.PUBLISHED: _("Published again."),
        Status.DRAFT: _("Back to draft. Visitors no longer see it."),
        Status.ARCHIVED: _("Archived again."),
    }[Status(post.status)]
    return Undone(text, post_url("change", post))


def _undo_revert(actor: Actor, arguments: JsonObject) -> Undone:
    post = undo_revert(
        post_id=str(arguments["post"]),
        version=int(str(arguments["version"])),
        revision_id=str(arguments["revision"]),
        actor=actor,
    )
    return Undone(_("Content restored."), post_url("change", post))


UNDO_KINDS: Final = (
    UndoKind("post.delete", _undo_delete),
    UndoKind("post.restore", _undo_restore),
    # A copy goes to the trash as a restored post does.
    UndoKind("post.copy", _undo_restore),
    UndoKind("post.status", _undo_status),
    UndoKind("post.revert", _undo_revert),
)
