"""Places where files are used, with names. Apps register lookups for the names of their objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, cast
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from pydantic import Field
from typing_extensions import TypedDict

from media.models import LIVE, Asset, MediaReference
from media.queries import where_used
from media.scopes import visible_uses
from proofroom.core.actor import Actor
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.i18n.languages import language_name

STAGED_NEEDS = "posts.view"
"""Permission required to see staged content of posts."""
MAX_PLACES: Final = 20
_CAPITAL: Final = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class UsageSource:
    """The name of a post or global module."""

    title: str
    locale: str | None = None
    global_slug: str | None = None
    address: str = ""
    """URL of its admin page, or an empty string."""


MediaLayer = Literal["live", "review", "ai-review"]
UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class MediaPlace(TypedDict):
    """A place that uses a file: a post (`postId`), or a global module (`globalSlug`)."""

    postId: UuidText | None
    globalSlug: str | None
    title: Annotated[str | None, Field(description="null for callers who may not see posts.")]
    locale: str | None
    layer: MediaLayer
    path: Annotated[str, Field(description="Like modules.<postModuleId>.props.imageId.")]


Describe: TypeAlias = Callable[[Collection[UUID]], Mapping[UUID, UsageSource]]
"""Returns the holders with these ids that may be named, except holders in the trash. One query."""

holder_lookups: ExtensionPoint[Describe] = ExtensionPoint()
"""Lookups by kind of holder."""


def label_files(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Return the names of files whose poster is an image."""
    rows = Asset.objects.filter(pk__in=ids).values_list("pk", "filename")
    return {
        pk: UsageSource(title=name, address=reverse("admin:media_asset_change", args=[pk]))
        for pk, name in rows
    }


def present_places(rows: Iterable[MediaReference], actor: Actor) -> list[MediaPlace]:
    """Return places of use in API format. One query per kind; titles only for actors who may see posts."""
    return [place for place, _ in places_with_addresses(rows, actor)]


def places_with_addresses(
    rows: Iterable[MediaReference], actor: Actor
) -> list[tuple[MediaPlace, str]]:
    """Return places of use, each with the URL of its holder's admin page or an empty string."""
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
    """Return the uses of a file in posts and layers visible to the actor, sorted by holder."""
    layers = None if actor.can(STAGED_NEEDS) else (LIVE,)
    return visible_uses(where_used(asset.pk, layers=layers), actor)


@dataclass(frozen=True, slots=True)
class UsagePlace:
    """A place of use. `sentence` contains the path, for programs; `words` describes it for users; `address` is its
    admin page."""

    sentence: str
    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Places:
    """The total number of places and the first of them, naming only what is visible to the actor."""

    total: int
    named: Sequence[UsagePlace]

    @property
    def further(self) -> int:
        return self.total - len(self.named)


def places_of(asset: Asset, actor: Actor) -> Places:
    """Return the places that use a file. A fixed number of queries."""
    # The total includes hidden places, because a deletion would affect them too.
    rows = where_used(asset.pk)
    visible = list(visible_uses_of(asset, actor)[:MAX_PLACES])
    named = []
    for place, address in places_with_addresses(visible, actor):
        title = place["title"] or place["globalSlug"]
        title = title or "Content you may not see, or in the trash"
        locale = f" ({language_name(place['locale'])})" if place["locale"] else ""
        # Snippets and other files have no layers.
        layer = f", {place['layer']}" if place["postId"] or place["globalSlug"] else ""
        holder = f"{title}{locale}{layer}"
        # Only the last name of the path, in words: `modules.….props.items.0.imageId` becomes "image of a
        # module".
        path = place["path"]
        names = [part for part in path.split(".") if not part.isdigit()]
        words = _CAPITAL.sub(lambda found: f" {found[0].lower()}", names[-1].removesuffix("Id"))
        if path.startswith("modules."):
            words = f"{words} of a module"
        named.append(UsagePlace(f"{holder}: {path}", f"{holder}: {words}", address))
    return Places(rows.count(), named)
