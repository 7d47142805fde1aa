"""Kinds of events of media."""

from __future__ import annotations

from proofroom.core.caching.cache_tags import all_type_tags, media_tag
from proofroom.core.json import JsonObject
from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import LiveEffect, text_of

_VIEW = "media.view"


def _changed(payload: JsonObject) -> LiveEffect | None:
    id_ = text_of(payload, "id")
    return LiveEffect("media", (media_tag(id_),)) if id_ else None


def _deleted(payload: JsonObject) -> LiveEffect | None:
    id_ = text_of(payload, "id")
    if not id_:
        return None
    # Which posts showed it is no longer known.
    types = sorted(all_type_tags()) if payload.get("places") else ()
    return LiveEffect("media", (media_tag(id_), *types), is_gone=True)


KINDS = (
    EventKind("media.alt-text.accepted", "Alt text accepted", _VIEW),
    EventKind("media.alt-text.proposed", "Alt text proposed", _VIEW),
    EventKind("media.alt-text.rejected", "Alt text rejected", _VIEW),
    EventKind("media.deleted", "File deleted", _VIEW, is_live=True, effect=_deleted),
    EventKind("media.orphans.deleted", "Orphaned files deleted", _VIEW),
    EventKind("media.replaced", "File replaced", _VIEW, is_live=True, effect=_changed),
    EventKind("media.updated", "File details changed", _VIEW, is_live=True, effect=_changed),
    EventKind("media.uploaded", "File uploaded", _VIEW),
    EventKind("media.variants", "Sizes of a file", _VIEW, is_live=True, effect=_changed),
)
