"""Queries of media used in several places."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from media.file_store import VARIANT_NAME, related_names
from media.models import (
    RECORDING_TYPES,
    Asset,
    AssetStatus,
    MediaReference,
    StoredFile,
    VariantWork,
)
from media.scopes import visible_assets, visible_uses
from media.search import TABLE
from proofroom.core import search
from proofroom.core.actor import Actor
from proofroom.core.content_scope import reading_scopes
from proofroom.core.search import RANK

ORDERINGS = {
    "createdAt": "created_at",
    "updatedAt": "updated_at",
    "filename": "filename",
    "size": "size",
}
"""Columns by API name of the ordering."""
_MAX_NAME_LENGTH: Final = StoredFile._meta.get_field("name").max_length or 300


@dataclass(frozen=True, slots=True)
class FoundAssets:
    """Assets by the requested ids, and by the requested current or old file names."""

    by_id: dict[str, Asset] = field(default_factory=dict)
    by_name: dict[str, Asset] = field(default_factory=dict)


def has_files() -> bool:
    """Return whether any file is stored."""
    return StoredFile.objects.exists()


def media_exists(id_: str) -> bool:
    return Asset.objects.filter(pk=id_).exists()


def load_assets(ids: Iterable[str]) -> dict[str, Asset]:
    """Return assets by id, without invalid and unknown ids. At most one query."""
    return load_assets_by_name(ids).by_id


def load_assets_by_name(ids: Iterable[UUID | str], names: Iterable[str] = ()) -> FoundAssets:
    """Return the assets with these ids and the assets of files with these names. At most one query."""
    wanted, same = set[UUID](), {name: related_names(name) for name in names}
    for id_ in ids:
        # Ids may come from stored content, where invalid ones are possible.
        with suppress(ValueError):
            wanted.add(id_ if isinstance(id_, UUID) else UUID(str(id_)))
    files = {name for others in same.values() for name in others}
    if not wanted and not files:
        return FoundAssets()
    if not files:
        return FoundAssets({str(row.pk): row for row in Asset.objects.filter(pk__in=wanted)})
    named = FilteredRelation("files", condition=Q(files__name__in=files))
    rows = Asset.objects.annotate(named=named, file_name=F("named__name"))
    listed = list(rows.filter(Q(pk__in=wanted) | Q(named__isnull=False)))
    known = {row.file_name: row for row in listed if row.file_name is not None}
    return FoundAssets(
        {str(row.pk): row for row in listed if row.pk in wanted},
        {
            name: known[other]
            for name, others in same.items()
            for other in reversed(others)
            if other in known
        },
    )


def find_current_name(name: str) -> str | None:
    """Return the name of the current file for a name whose file is deleted or not made yet.

    None if there is no other file. One query.
    """
    # Names come from request paths, and PostgreSQL refuses queries for a text with NUL.
    if len(name) > _MAX_NAME_LENGTH or "\x00" in name:
        return None
    asset = load_assets_by_name((), (name,)).by_name.get(name)
    if asset is None:
        return None
    found = str(asset.file.name)
    if variant := VARIANT_NAME.fullmatch(name):
        # A variant leads to the asset's current variant of the same size and theme.
        is_dark, size = variant["dark"], variant["size"]
        is_ready = asset.status == AssetStatus.READY
        if is_dark and asset.dark_variants.get(size, name) != name:
            found = str(asset.dark_variants[size])
        elif is_ready and asset.variants.get(size) not in (None, name):
            found = str(asset.variants[size])
    return found if found != name else None


def where_used(
    asset_id: UUID | str, *, layers: Collection[str] | None = None
) -> QuerySet[MediaReference]:
    """Return the places that use a file, sorted by holder, optionally only in these layers."""
    rows = MediaReference.objects.filter(asset_id=asset_id)
    if layers is not None:
        rows = rows.filter(layer__in=layers)
    return rows.order_by("holder_kind", "holder_id", "layer", "path", "id")


def list_assets(
    *,
    actor: Actor,
    category: str = "",
    search: str = "",
    mime: str = "",
    status: str = "",
    is_used: bool | None = None,
    ordering: str = "",
) -> QuerySet[Asset]:
    """Return the visible assets that match all filters. `category` matches exactly; `mime` is a type or its first
    part, such as `image`.

    A search requires all words and sorts by relevance; otherwise newest first.
    """
    found = visible_assets(Asset.objects.all(), actor)
    found = filter_by_words(found, search) if search.strip() else found
    found = filter_by_type(filter_by_category(found, category), mime)
    if status:
        found = found.filter(status=status)
    if is_used is not None:
        found = filter_by_use(found, is_used)
    column = ORDERINGS.get(ordering.removeprefix("-"))
    if column is not None:
        return found.order_by(f"-{column}" if ordering.startswith("-") else column, "id")
    return found.order_by(*([f"-{RANK}"] if search.strip() else []), "-created_at", "-id")


def near_assets(*, actor: Actor, words: str, category: str = "", mime: str = "") -> list[Asset]:
    """Return files that have similar words in alternative text, description, name or category, for a search that
    found nothing. One query; of many files, the newest are compared."""
    rows = list_assets(actor=actor, category=category, mime=mime)[: search.MAX_NEAR_CANDIDATES]
    texts = (
        (one, " ".join((one.alt_text, one.description, one.filename, *one.categories)))
        for one in rows
    )
    return search.near_matches(words, texts)


def filter_by_words(rows: QuerySet[Asset], words: str) -> QuerySet[Asset]:
    """Return the assets with every word in alternative text, description, name or category, annotated
    with their rank."""
    return search.matching(rows, TABLE, words, locales=settings.CMS_ENV.locales)


def category_counts(
    actor: Actor,
    begin: int = 0,
    end: int = 100,
) -> tuple[list[tuple[str, int]], int]:
    """Return a slice of the categories by name with their numbers of files, and the total number of categories.

    Counts only files visible to the actor.
    """
    if connection.vendor == "postgresql":
        each, word = "media_asset, jsonb_array_elements_text(categories) AS word", "word"
    else:
        each, word = "media_asset, json_each(categories)", "value"
    parameters: tuple[Any, ...] = ()
    if reading_scopes(actor):
        seen = visible_assets(Asset.objects.all(), actor).order_by().values("pk")
        sql, parameters = seen.query.sql_with_params()
        each = f"{each} WHERE media_asset.id IN ({sql})"
    with connection.cursor() as cursor:
        # Contains only our own names. The ORM can't group by the elements of a JSON list.
        cursor.execute(f"SELECT COUNT(DISTINCT {word}) FROM {each}", parameters)  # noqa: S608
        total = int(cursor.fetchone()[0])
        cursor.execute(
            f"SELECT {word}, COUNT(*) FROM {each} GROUP BY {word} "  # noqa: S608
            f"ORDER BY {word} LIMIT %s OFFSET %s",
            [*parameters, end - begin, begin],
        )
        return [(str(name), int(number)) for name, number in cursor.fetchall()], total


def filter_by_category(rows: QuerySet[Asset], category: str) -> QuerySet[Asset]:
    """Return the assets in this category, or all if it is empty."""
    # PostgreSQL refuses queries for a text with NUL.
    if not category or "\x00" in category:
        return rows.none() if category else rows
    if connection.features.supports_json_field_contains:
        return rows.filter(categories__contains=[category])
    # SQLite doesn't support the `contains` lookup on JSON lists.
    listed = "SELECT 1 FROM json_each(media_asset.categories) AS word WHERE word.value = %s"
    return rows.extra(where=[f"EXISTS ({listed})"], params=[category])  # noqa: S610


RECORDINGS: Final = "video, audio"
"""The type of videos and audio files, in filters."""


def filter_by_type(rows: QuerySet[Asset], mime: str) -> QuerySet[Asset]:
    """Return the assets of a type such as `image/png`, `image` or `RECORDINGS`, or all if it is empty."""
    if mime == RECORDINGS:
        video, audio = (Q(mime__startswith=beginning) for beginning in RECORDING_TYPES)
        return rows.filter(video | audio)
    # PostgreSQL refuses queries for a text with NUL.
    if not mime or "\x00" in mime:
        return rows.none() if mime else rows
    return rows.filter(mime=mime) if "/" in mime else rows.filter(mime__startswith=f"{mime}/")


def filter_by_use(rows: QuerySet[Asset], is_used: bool) -> QuerySet[Asset]:
    """Return the used or the unused assets."""
    uses = Exists(MediaReference.objects.filter(asset=OuterRef("pk")))
    return rows.filter(uses if is_used else ~uses)


def filter_undescribed(rows: QuerySet[Asset], locale: str = "") -> QuerySet[Asset]:
    """Return the images without an alternative text in the default language, or in `locale`."""
    images = rows.filter(mime__startswith="image/", is_decorative=False)
    if not locale or locale == settings.CMS_ENV.default_locale:
        return images.filter(alt_text="")
    return images.exclude(alt_texts__has_key=locale)


def filter_failed(rows: QuerySet[Asset]) -> QuerySet[Asset]:
    """Return the assets whose light or dark sizes could not be made."""
    given_up = Exists(VariantWork.objects.filter(asset=OuterRef("pk"), is_given_up=True))
    return rows.filter(Q(status=AssetStatus.FAILED) | given_up)


def annotate_use_counts(rows: QuerySet[Asset], actor: Actor) -> QuerySet[Asset]:
    """Return the visible assets, annotated with `uses`, the number of visible places that use them."""
    counted = (
        visible_uses(MediaReference.objects.filter(asset=OuterRef("pk")), actor)
        .order_by()
        .values("asset")
        .annotate(number=Count("pk"))
    )
    return visible_assets(rows, actor).annotate(
        uses=Coalesce(Subquery(counted.values("number")), 0)
    )
