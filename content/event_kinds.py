"""Kinds of events of posts and other page content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from proofroom.core.caching.cache_tags import (
    REDIRECTS,
    SITE,
    form_tag,
    global_tag,
    media_tag,
    menu_tag,
    post_tag,
    term_tag,
    type_tag,
)
from proofroom.core.json import JsonObject
from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import LiveEffect, text_of

_VIEW: Final = "posts.view"
_PUBLISHED: Final = "published"
EXPIRY: Final = "expiry"
"""Cause of a change by `unpublishAt`."""
SCHEDULE: Final = "schedule"
"""Cause of a change by `publishAt` or by staged changes that were approved for a time."""
RELEASE: Final = "release"
"""Cause of a change by a release: a set of changes that go live together."""
_CAUSE: Final = ("cause",)
"""Only `content.changed` names the cause, which these payloads keep for it."""
_MOVED_PATHS: Final = frozenset({"post.url", "post.canonicalUrl"})
"""The changed paths of a post whose address another change moved."""


def _tags_of_post(payload: JsonObject) -> tuple[str, ...]:
    # Visitors see a running variation at the address of its original.
    ids = [text_of(payload, name) for name in ("id", "variationOf")]
    type_ = type_tag(text_of(payload, "type"), text_of(payload, "locale"))
    return (*(post_tag(id_) for id_ in ids if id_), type_)


def _written(cause: str) -> Callable[[JsonObject], LiveEffect | None]:
    """Return the effect of kinds that say how a post is now. The payload may name another cause."""

    def effect(payload: JsonObject) -> LiveEffect | None:
        if not payload:  # forgotten
            return None
        tags, url = _tags_of_post(payload), text_of(payload, "url")
        if payload.get("variationOf"):
            return LiveEffect("variation", tags, was_live=False)
        told = text_of(payload, "cause") or cause
        if payload.get("status") == _PUBLISHED:
            return LiveEffect(told, tags, (url,))
        if told == EXPIRY:
            return LiveEffect(told, tags, gone=(url,))
        changed = payload.get("changedPaths")
        # A changed status names no path. Drafts are edited, but no visitor saw them.
        return None if changed else LiveEffect(told, tags, gone=(url,), was_live=False)

    return effect


def _updated(payload: JsonObject) -> LiveEffect | None:
    changed = payload.get("changedPaths")
    if isinstance(changed, list) and "post.url" in changed and _MOVED_PATHS.issuperset(changed):
        return None  # `post.moved` tells of it, with the former address
    return _written("post")(payload)


def _created(payload: JsonObject) -> LiveEffect | None:
    return _written("post")(payload) if payload.get("status") == _PUBLISHED else None


def _restored(payload: JsonObject) -> LiveEffect | None:
    return _written("restore")(payload) if payload.get("status") == _PUBLISHED else None


def _deleted(payload: JsonObject) -> LiveEffect | None:
    if payload.get("status") != _PUBLISHED or payload.get("variationOf"):
        return None
    return LiveEffect("trash", _tags_of_post(payload), gone=(text_of(payload, "url"),))


def _moved(payload: JsonObject) -> LiveEffect | None:
    if payload.get("isLive") is not True:
        return None
    tags = (*_tags_of_post(payload), REDIRECTS)
    # A post that was never published has no former address.
    gone = (text_of(payload, "from"),) if payload.get("from") else ()
    return LiveEffect(text_of(payload, "cause") or "move", tags, (text_of(payload, "to"),), gone)


def _variation(payload: JsonObject) -> LiveEffect | None:
    return LiveEffect("variation", _tags_of_post(payload)) if payload else None


def _migrated(payload: JsonObject) -> LiveEffect:
    return LiveEffect("migration", (SITE,))


def _shared(payload: JsonObject) -> LiveEffect | None:
    """Return the effect of a change of anything that is no post."""
    what, is_gone = text_of(payload, "what"), payload.get("did") == "deleted"
    if what == "redirect":
        path = text_of(payload, "fromPath")
        paths = (path,) if path else ()
        if is_gone:
            return LiveEffect("redirect", (REDIRECTS,), gone=paths)
        return LiveEffect("redirect", (REDIRECTS,), paths)
    if what not in _SHARED:
        return LiveEffect("settings", (SITE,))
    cause, key, tag = _SHARED[what]
    names = [text_of(payload, part) for part in (key, "formerSlug")]
    tags = tuple(tag(name) for name in names if name)
    if tags and "slugBefore" in payload:
        # The lists of a renamed term leave redirects.
        tags += (REDIRECTS,)
    return LiveEffect(cause, tags, is_gone=is_gone) if tags else None


_SHARED: Final[Mapping[str, tuple[str, str, Callable[[str], str]]]] = {
    "menu": ("menu", "slug", menu_tag),
    "term": ("term", "id", term_tag),
    "taxonomy-term": ("term", "id", term_tag),
    "global-module": ("global_module", "slug", global_tag),
    "form": ("form", "slug", form_tag),
    "media": ("media", "id", media_tag),
}
"""Cause, name in the payload, and tag of what `content.changed` says was changed."""

KINDS = (
    # Webhooks
    EventKind(
        "post.created", "Post created", _VIEW, is_live=True, effect=_created, is_webhook=True
    ),
    EventKind(
        "post.updated",
        "Post updated",
        _VIEW,
        is_live=True,
        effect=_updated,
        is_webhook=True,
        internal_keys=_CAUSE,
    ),
    EventKind(
        "post.published",
        "Post published",
        _VIEW,
        is_live=True,
        effect=_written("post"),
        is_webhook=True,
        internal_keys=_CAUSE,
    ),
    EventKind(
        "post.deleted",
        "Post moved to the trash",
        _VIEW,
        is_live=True,
        effect=_deleted,
        is_webhook=True,
    ),
    EventKind(
        "post.restored", "Post restored", _VIEW, is_live=True, effect=_restored, is_webhook=True
    ),
    # Scopes of agents
    EventKind("post.publish", "Publishing", _VIEW, is_trigger=True, internal_keys=_CAUSE),
    EventKind("post.approve", "Changes went live", _VIEW, is_trigger=True, internal_keys=_CAUSE),
    EventKind("post.review.save", "Saved to Review", _VIEW, is_trigger=True),
    EventKind(
        "post.review.approve",
        "Changes in Review approved",
        _VIEW,
        is_trigger=True,
        internal_keys=_CAUSE,
    ),
    EventKind("post.ai-review.save", "Proposed in AI Review", _VIEW, is_trigger=True),
    EventKind(
        "post.ai-review.approve", "Changes in AI Review submitted to Review", _VIEW, is_trigger=True
    ),
    EventKind("post.create-translation", "Translation created", _VIEW, is_trigger=True),
    # What else people do
    EventKind("post.review.schedule", "Changes in Review scheduled", _VIEW),
    EventKind("post.review.unschedule", "Schedule of changes in Review removed", _VIEW),
    EventKind("post.review.reject", "Changes in Review rejected", _VIEW),
    EventKind("post.ai-review.reject", "Changes in AI Review rejected", _VIEW),
    EventKind("post.review.reconsider", "Rejection in Review undone", _VIEW),
    EventKind("post.ai-review.reconsider", "Rejection in AI Review undone", _VIEW),
    EventKind("post.ai-review.withdraw", "Withdrawn from AI Review", _VIEW),
    EventKind("post.schedule-failed", "Schedule of a post failed", _VIEW),
    EventKind("post.purged", "Post permanently deleted", "posts.delete"),
    EventKind("post.moved", "Address changed", _VIEW, is_live=True, effect=_moved),
    EventKind("post.tree-moved", "Addresses below updated", _VIEW),
    EventKind("post.translation-checked", "Translation marked as up to date", _VIEW),
    EventKind(
        "post.variation.changed",
        "Share of a variation changed",
        _VIEW,
        is_live=True,
        effect=_variation,
    ),
    EventKind(
        "post.variation.started", "Variation started", _VIEW, is_live=True, effect=_variation
    ),
    EventKind(
        "post.variation.stopped", "Variation stopped", _VIEW, is_live=True, effect=_variation
    ),
    EventKind("post.locked", "Page locked", _VIEW),
    EventKind("post.unlocked", "Page unlocked", _VIEW),
    EventKind("post.exported", "Post exported", _VIEW),
    EventKind("content.changed", "Content changed", _VIEW, is_live=True, effect=_shared),
    EventKind(
        "content.migrated",
        "Content carried over",
        "settings.manage",
        is_live=True,
        effect=_migrated,
    ),
    EventKind("inbox.batch.begun", "Bulk review started", _VIEW),
    EventKind("inbox.batch.cancelled", "Bulk review cancelled", _VIEW),
    EventKind("inbox.batch.ended", "Bulk review finished", _VIEW),
    EventKind("posts.job-ended", "Background job finished", _VIEW),
    EventKind("module-group.created", "Module group created", _VIEW),
    EventKind("module-group.updated", "Module group changed", _VIEW),
    EventKind("module-group.deleted", "Module group deleted", _VIEW),
    EventKind("database.replaced", "Text replaced", "database.manage"),
    EventKind("database.undone", "Replacement undone", "database.manage"),
    EventKind("urlPattern.changed", "URL pattern changed", "urlPatterns.edit"),
    EventKind("search.stale", "Search updated", "settings.manage", is_internal=True),
)
