"""A post as other pages show it: in lists, and where a module names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from media.presenters import SiteImage
from proofroom.core.database.statements import Row
from proofroom.core.json import JsonObject
from proofroom.definitions import post_types
from proofroom.website.page_media import media_ids


@dataclass(frozen=True, slots=True)
class PostCard:
    """What templates show of another post. The files that `custom` names are in `media`."""

    id: str
    type: str
    title: str
    url: str
    excerpt: str
    published_at: datetime | None
    image: SiteImage | None
    custom: JsonObject


def card_of(row: Row, media: Mapping[str, SiteImage]) -> PostCard:
    return PostCard(
        id=str(row["id"]),
        type=row["type"],
        title=row["title"],
        url=row["path"],
        excerpt=row["excerpt"],
        published_at=row["published_at"],
        image=media.get(str(row["featured_media_id"])),
        custom=row["custom_fields"],
    )


def media_of(row: Row) -> Iterator[str]:
    """The files that a card shows."""
    if row["featured_media_id"] is not None:
        yield str(row["featured_media_id"])
    definition = post_types.get(row["type"])
    if definition is not None:
        yield from media_ids(definition.CustomFields, row["custom_fields"])
