"""Media references: the file of a URL, and the places where files are used, updated with each write."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias
from urllib.parse import unquote
from uuid import UUID

from django.conf import settings
from django.core.files.storage import Storage, default_storage
from django.db import connection

from media.file_store import related_names
from media.models import Asset, MediaReference, StoredFile

_NAME: Final = re.compile(r"[\w./-]{1,300}", re.ASCII)
_PROBE: Final = "x"


def storage_name(address: str) -> str | None:
    """Return the storage name of a URL, or None if it is not a file of this site."""
    plain = re.split(r"[?#]", address, maxsplit=1)[0]
    # Files have URLs on this site, and possibly on another host of the storage.
    local = settings.MEDIA_URL
    for base in (local, settings.SITE_URL + local, _base_of(default_storage, local)):
        if plain.startswith(base):
            name = unquote(plain.removeprefix(base))
            return name if _NAME.fullmatch(name) else None
    return None


@lru_cache(maxsize=8)
def _base_of(storage: Storage, local: str) -> str:
    """Return the common prefix of a storage's URLs. Cached, because some storages sign each URL."""
    return storage.url(_PROBE).partition("?")[0].removesuffix(_PROBE)


Token: TypeAlias = UUID | str
"""An asset's id, or a current or old name of one of its files."""
Places: TypeAlias = Mapping[str, Collection[Token]]
"""Used assets by path."""

_BATCH_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class Held:
    """The files used by one layer of a holder before and after a change."""

    kind: str
    id: UUID
    layer: str
    before: Places
    after: Places

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def set_references(held: Iterable[Held]) -> frozenset[UUID]:
    """Update the references of these layers, without a query if nothing changed. Return the ids that have no
    asset.

    Must be called in the caller's transaction with the holders locked. The assets are locked against deletion
    until its end. Unknown names get no row.
    """
    changed = [item for item in held if item.is_changed]
    if not changed:
        return frozenset()
    by_layer: dict[tuple[str, str], list[UUID]] = {}
    for item in changed:
        if item.before:
            by_layer.setdefault((item.kind, item.layer), []).append(item.id)
    for (kind, layer), ids in by_layer.items():
        for begin in range(0, len(ids), _BATCH_SIZE):
            MediaReference.objects.filter(
                holder_kind=kind, holder_id__in=ids[begin : begin + _BATCH_SIZE], layer=layer
            ).delete()
    tokens = {token for item in changed for place in item.after.values() for token in place}
    assets = _find_assets(tokens)
    rows = (
        MediaReference(
            asset_id=asset_id,
            holder_kind=item.kind,
            holder_id=item.id,
            layer=item.layer,
            path=path,
        )
        for item in changed
        for path, place in item.after.items()
        for asset_id in sorted({assets[token] for token in place if token in assets})
    )
    MediaReference.objects.bulk_create(rows, batch_size=_BATCH_SIZE)
    return frozenset(id_ for id_ in tokens if isinstance(id_, UUID) and id_ not in assets)


def drop_references(kind: str, holder_ids: Collection[UUID]) -> None:
    """Delete all references of these holders, which are deleted or in the trash."""
    MediaReference.objects.filter(holder_kind=kind, holder_id__in=holder_ids).delete()


def _find_assets(tokens: Collection[Token]) -> dict[Token, UUID]:
    """Return the asset id for each token, and lock the assets until the end of the transaction."""
    names = {token: related_names(token) for token in tokens if isinstance(token, str)}
    listed, known = sorted({name for same in names.values() for name in same}), dict[str, UUID]()
    for begin in range(0, len(listed), _BATCH_SIZE):
        files = StoredFile.objects.filter(name__in=listed[begin : begin + _BATCH_SIZE])
        rows = files.filter(asset__isnull=False).values_list("name", "asset_id")
        known |= dict(rows)
    named = {
        token: known[name]
        for token, same in names.items()
        for name in reversed(same)
        if name in known
    }
    # Sorted, so that two transactions lock in the same order.
    there = _lock_shared(
        sorted({token for token in tokens if isinstance(token, UUID)} | {*named.values()})
    )
    found: dict[Token, UUID] = {id_: id_ for id_ in there}
    return found | {token: id_ for token, id_ in named.items() if id_ in there}


def _lock_shared(ids: Sequence[UUID]) -> set[UUID]:
    """Return the existing ids, with their keys locked in shared mode: deletions wait, edits don't."""
    found: set[UUID] = set()
    for begin in range(0, len(ids), _BATCH_SIZE):
        rows = (
            Asset.objects.filter(pk__in=ids[begin : begin + _BATCH_SIZE])
            .order_by("pk")
            .values("pk")
        )
        if connection.vendor != "postgresql":
            found |= {row["pk"] for row in rows}
            continue
        # Django has no option for FOR KEY SHARE.
        sql, parameters = rows.query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(f"{sql} FOR KEY SHARE", parameters)
            found |= {row[0] for row in cursor.fetchall()}
    return found
