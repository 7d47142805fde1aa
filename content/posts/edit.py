"""Edit: change live content directly, by a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.layers.live import write_live
from content.models import Post, Status
from content.posts.publication_date import UNCHANGED, PublishedAt, change_published_at
from content.posts.publish import move_status
from content.rules import check_changes
from content.rules.place_scope import require_place_in_scope
from content.store import post_repository
from content.store.layer_state import check_version, lock_post, settle
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, invalid


@transaction.atomic
def edit_post(
    *,
    post_id: UUID | str,
    actor: Actor,
    edit: Callable[[PostDocument], PostDocument] | None = None,
    status: str | None = None,
    published_at: PublishedAt = UNCHANGED,
    expected_version: int | None = None,
    source_hashes: Mapping[str, str] | None = None,
) -> Post:
    """Change live content, status or publication date in one transaction.

    `edit` gets the live document and returns the changed one. `source_hashes` maps paths of a translation to the
    hashes of the source values it was made from; by default the current ones. Raises `Conflict` (`stale_version`),
    `RuleViolation`, `NotAllowed`, `NotFound`.
    """
    actor.require_person("change live content")
    if not actor.can("posts.edit"):
        actor.require("posts.translate")
    post = lock_post(post_id, actor)
    check_version(expected_version, post.version, _("This post"))
    if not actor.can("posts.edit") and post.status != Status.DRAFT:
        raise NotAllowed(_("This post is live. Translators save changes to Review."))
    if status == Status.DRAFT and post.status != Status.DRAFT:
        # First, because the same call may set fields that only a draft can have, such as `publishAt`.
        move_status(post=post, status=status, actor=actor)
    before = post_repository.load(post)
    after = edit(before) if edit else before
    require_place_in_scope(post=post, before=before, after=after, actor=actor)
    after = check_changes(post=post, before=before, after=after, actor=actor)
    if status == Status.PUBLISHED:
        due = after.fields.get("publishAt")
        if due is not None and due != before.fields.get("publishAt"):
            message = _("Publish the post now or schedule it, not both.")
            raise invalid("publishAt", message, code="not_a_draft")
    if write_live(
        post=post,
        before=before,
        after=after,
        actor=actor,
        reason="edited",
        source_hashes=source_hashes,
    ):
        settle(post, after)
    if published_at is not UNCHANGED:
        change_published_at(post=post, moment=published_at, actor=actor)
    if status is not None and status != post.status:
        move_status(post=post, status=status, actor=actor)
    return post
