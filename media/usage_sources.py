"""Places where files are used, as lists name them. Apps above register how theirs are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, cast
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field
from typing_extensions import TypedDict

from media.models import LIVE, Asset, MediaReference
from media.queries import where_used
from media.scopes import visible_uses
from proofroom.core.actor import Actor
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n.languages import language_name

STAGED_NEEDS = "posts.view"
"""The right to see what posts hold before it is live."""
MAX_PLACES: Final = 20
_CAPITAL: Final = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class UsageSource:
    """A post or a global module by its name."""

    title: str
    locale: str | None = None
    global_slug: str | None = None
    address: str = ""
    """Its page in the admin; empty for none."""


MediaLayer = Literal["live", "review", "ai-review"]
UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class MediaPlace(TypedDict):
    """A place that uses a file: of a post (`postId`), or of a global module (`globalSlug`)."""

    postId: UuidText | None
    globalSlug: str | None
    title: Annotated[str | None, Field(description="null for who may not see posts.")]
    locale: str | None
    layer: MediaLayer
    path: Annotated[str, Field(description="Like modules.<postModuleId>.props.imageId.")]


Describe: TypeAlias = Callable[[Collection[UUID]], Mapping[UUID, UsageSource]]
"""The holders of these ids that may be named: none in the trash. One query."""

holder_lookups: ExtensionPoint[Describe] = ExtensionPoint()
"""By kind of holder."""


def present_places(rows: Iterable[MediaReference], actor: Actor) -> list[MediaPlace]:
    """Places of use, as the wire has them. One query for each kind; titles only for who may see posts."""
    return [place for place, _ in places_with_addresses(rows, actor)]


def places_with_addresses(
    rows: Iterable[MediaReference], actor: Actor
) -> list[tuple[MediaPlace, str]]:
    """The same, each with the page in the admin of what uses the file, or with nothing."""
    listed = list(rows)
    holders: dict[tuple[str, UUID], UsageSource] = {}
    for kind in sorted({row.holder_kind for row in listed} if actor.can(STAGED_NEEDS) else ()):
        ids = {row.holder_id for row in listed if row.holder_kind == kind}
        if describe := holder_lookups.get(kind):
            holders |= {(kind, id_): holder for id_, holder in describe(ids).items()}
    found: list[tuple[MediaPlace, str]] = []
    for row in listed:
        source = holders.get((row.holder_kind, row.holder_id))
        place: MediaPlace = {
            "postId": str(row.holder_id) if row.holder_kind == "post" else None,
            "globalSlug": source.global_slug if source else None,
            "title": source.title if source else None,
            "locale": source.locale if source else None,
            "layer": cast(MediaLayer, row.layer),
            "path": row.path,
        }
        found.append((place, source.address if source else ""))
    return found


def visible_uses_of(asset: Asset, actor: Actor) -> QuerySet[MediaReference]:
    """The places that use the file, of posts and layers that the actor may see; those of one holder together."""
    layers = None if actor.can(STAGED_NEEDS) else (LIVE,)
    return visible_uses(where_used(asset.pk, layers=layers), actor)


@dataclass(frozen=True, slots=True)
class UsagePlace:
    """`sentence` has the path, as programs need it; `words` say it to people. `address` is its page in the admin."""

    sentence: str
    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Places:
    """`total` places, and the first of them, which name only what the actor may see."""

    total: int
    named: Sequence[UsagePlace]

    @property
    def further(self) -> int:
        return self.total - len(self.named)


def places_of(asset: Asset, actor: Actor) -> Places:
    """The places that use the file. A fixed number of queries."""
    rows = where_used(asset.pk)
    visible = list(visible_uses_of(asset, actor)[:MAX_PLACES])
    named = []
    for place, address in places_with_addresses(visible, actor):
        title = place["title"] or place["globalSlug"]
        title = title or "Content you may not see, or in the trash"
        locale = f" ({language_name(place['locale'])})" if place["locale"] else ""
        holder = f"{title}{locale}, {place['layer']}"
        # The last name of the path in words: `modules.….props.items.0.imageId` is "image of a module".
        path = place["path"]
        names = [part for part in path.split(".") if not part.isdigit()]
        words = _CAPITAL.sub(lambda found: f" {found[0].lower()}", names[-1].removesuffix("Id"))
        if path.startswith("modules."):
            words = f"{words} of a module"
        named.append(UsagePlace(f"{holder}: {path}", f"{holder}: {words}", address))
    return Places(rows.count(), named)
