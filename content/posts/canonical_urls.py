"""Canonical URLs: fill them in for posts without one."""

from __future__ import annotations

import time
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from content.document.changes import diff
from content.layers.live import Written, write_many
from content.models import Post
from content.store import post_repository
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.site_urls import absolute
from proofroom.core.validation.limits import URL_MAX

BATCH_SIZE: Final = 200
SECONDS = 20.0
"""Maximum duration of one call in seconds; the next call continues."""


def posts_without_canonical() -> QuerySet[Post]:
    """Return live posts that can have a canonical URL: with a path, approved at least once, not in the trash."""
    posts = Post.objects.alive().filter(is_placeholder=False).exclude(path="")
    return posts.filter(Q(canonical_url__isnull=True) | Q(canonical_url=""))


def set_missing_canonicals(*, actor: Actor) -> int:
    """Set the canonical URL of posts without one to their own URL, and return the number of changed posts.

    Stops after `SECONDS`. Each changed post gets a revision and a `post.updated` event; staged changes are not
    touched. The URL follows later moves of the post. Safe to run twice: the second call continues.
    """
    actor.require_person("fill in canonical addresses")
    actor.require("seo.manage")
    total, after = 0, UUID(int=0)
    until = time.monotonic() + SECONDS
    while True:
        # A transaction per batch, so that posts are locked only briefly.
        with transaction.atomic():
            rows = posts_without_canonical().filter(pk__gt=after).order_by("pk")
            posts = list(rows.select_for_update(of=("self",), no_key=True)[:BATCH_SIZE])
            written = []
            for post, before in post_repository.load_many(posts):
                own = absolute(post.path)
                if len(own) <= URL_MAX:
                    document = before.with_fields({"canonicalUrl": own})
                    written.append(Written(post, before, document, diff(before, document)))
            write_many(written, actor=actor, reason="edited")
            payloads = [(item.post.pk, item.payload()) for item in written]
            # No `post.approve` event: no text was approved, so agents triggered by it have nothing to do.
            outbox.record_all("post.updated", payloads, actor=actor)
        total += len(written)
        if len(posts) < BATCH_SIZE or time.monotonic() >= until:
            return total
        # Continues after the last key, because posts whose URL is too long still match the filter.
        after = posts[-1].pk
