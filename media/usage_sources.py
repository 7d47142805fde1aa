"""Sources of uses of files, as lists of their uses name them. Apps above register how theirs are called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, cast
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from media.models import MediaReference
from media.services.references import LIVE
from proofroom.core.actor import Actor
from proofroom.core.hooks import ExtensionPoint

STAGED_NEEDS = "posts.view"
"""The right to see what posts hold before it is live."""


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
    names = _named(listed) if actor.can(STAGED_NEEDS) else {}
    found = ((row, names.get((row.holder_kind, row.holder_id))) for row in listed)
    return [(_place(row, holder), holder.address if holder else "") for row, holder in found]


def visible_layers(actor: Actor) -> Collection[str] | None:
    """The layers whose uses the actor may see; None for all of them."""
    return None if actor.can(STAGED_NEEDS) else (LIVE,)


def _named(rows: Sequence[MediaReference]) -> dict[tuple[str, UUID], UsageSource]:
    found: dict[tuple[str, UUID], UsageSource] = {}
    for kind in sorted({row.holder_kind for row in rows}):
        ids = {row.holder_id for row in rows if row.holder_kind == kind}
        if describe := holder_lookups.get(kind):
            found |= {(kind, id_): holder for id_, holder in describe(ids).items()}
    return found


def _place(row: MediaReference, holder: UsageSource | None) -> MediaPlace:
    return {
        "postId": str(row.holder_id) if row.holder_kind == "post" else None,
        "globalSlug": holder.global_slug if holder else None,
        "title": holder.title if holder else None,
        "locale": holder.locale if holder else None,
        "layer": cast(MediaLayer, row.layer),
        "path": row.path,
    }
