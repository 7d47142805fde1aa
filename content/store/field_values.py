"""The values of filterable custom fields as rows, which filters and orders of lists read.

Rows are written with every change of live content. A post in the trash keeps its rows: readers filter by post.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, QuerySet

from content.document.document import PostDocument
from content.models import FieldValue, Post
from content.models.field_value import TEXT_MAX
from proofroom.core.batches import batches
from proofroom.core.json import Json
from proofroom.definitions import Prop, filterable_custom_fields, post_types

StoredValue = tuple[str, str, float | None]
"""Name, text and number of a row."""
_BATCH: Final = 500
_MAX_ITEMS: Final = 100


def collect_values(post_type: str, custom_fields: Mapping[str, Json]) -> list[StoredValue]:
    """Return the distinct rows of a post's custom fields. Values that do not fit the definition are skipped."""
    found: dict[StoredValue, None] = {}
    for prop in filterable_custom_fields(post_type).values():
        value = custom_fields.get(prop.name)
        for item in value[:_MAX_ITEMS] if isinstance(value, list) else [value]:
            stored = _stored(prop, item)
            if stored is not None:
                found.setdefault(stored)
    return list(found)


def _stored(prop: Prop, value: Json) -> StoredValue | None:
    if prop.kind == "number":
        # A bool is an int in Python.
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # Python's whole numbers can be too large for the column, which is a float.
        return (prop.name, "", float(value)) if abs(value) <= sys.float_info.max else None
    if prop.kind == "boolean":
        return (prop.name, "true" if value else "false", None) if isinstance(value, bool) else None
    return (prop.name, value[:TEXT_MAX], None) if isinstance(value, str) and value else None


def update_field_values(
    rewrites: Iterable[tuple[Post, PostDocument | None, PostDocument]],
) -> None:
    """Update the rows of posts whose live content changed. No query if their values stay the same."""
    changed: dict[UUID, list[StoredValue]] = {}
    replaced: list[UUID] = []
    for post, before, after in rewrites:
        new = collect_values(post.type, after.custom_fields)
        if before is not None:
            old = collect_values(post.type, before.custom_fields)
            if old == new:
                continue
            if old:
                replaced.append(post.pk)
        changed[post.pk] = new
    if replaced:
        FieldValue.objects.filter(post__in=replaced).delete()
    _insert(changed)


def rebuild_field_values(types: Collection[str] | None = None) -> int:
    """Rebuild the rows of the posts of these types, or of all posts. Returns the number of posts.

    Idempotent, and safe during concurrent writes.
    """
    posts = Post.objects.all() if types is None else Post.objects.filter(type__in=types)
    ids = list(posts.order_by("pk").values_list("pk", flat=True))
    for part in batches(ids, _BATCH):
        _rebuild(part)
    return len(ids)


def follow_filterable_fields() -> None:
    """Store the values of fields that became filterable, and delete the values of fields that no longer are.

    Two queries if nothing changed.
    """
    wanted = {
        (definition.name, name)
        for definition in post_types
        for name in filterable_custom_fields(definition.name)
    }
    stored = set(FieldValue.objects.order_by().values_list("post__type", "name").distinct())
    for type_, name in stored - wanted:
        FieldValue.objects.filter(post__type=type_, name=name).delete()
    new = {type_ for type_, _name in wanted - stored}
    if new:
        rebuild_field_values(new)


def values_of_post(name: str, post: OuterRef) -> QuerySet[FieldValue]:
    """Return the rows of a field of one post of an outer query."""
    return FieldValue.objects.filter(post=post, name=name)


@transaction.atomic
def _rebuild(ids: Sequence[UUID]) -> None:
    # Ordered, so that locks cannot deadlock.
    posts = Post.objects.filter(pk__in=ids).order_by("pk")
    rows = posts.select_for_update(of=("self",), no_key=True).values_list(
        "pk", "type", "custom_fields"
    )
    wanted = {pk: collect_values(type_, custom_fields) for pk, type_, custom_fields in rows}
    stored: dict[UUID, list[StoredValue]] = defaultdict(list)
    for row in FieldValue.objects.filter(post__in=ids).order_by("pk"):
        stored[row.post_id].append((row.name, row.text, row.number))
    outdated = {pk: values for pk, values in wanted.items() if stored[pk] != values}
    FieldValue.objects.filter(post__in=list(outdated)).delete()
    _insert(outdated)


def _insert(values: Mapping[UUID, Sequence[StoredValue]]) -> None:
    rows = [
        FieldValue(post_id=post_id, name=name, text=text, number=number)
        for post_id, listed in values.items()
        for name, text, number in listed
    ]
    if rows:
        FieldValue.objects.bulk_create(rows, batch_size=_BATCH)
