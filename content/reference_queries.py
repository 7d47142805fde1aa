"""Titles and thumbnails for ids, a query for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterable

from content.changes import Change
from content.document import PostDocument
from content.models import Post, Term
from content.review.labels import type_label
from content.review.references import MediaView, References, Wanted, wanted_by
from media.models import Asset
from media.queries import assets


def references_of(changes: Iterable[Change], *documents: PostDocument) -> References:
    """What the ids in these changes stand for. At most three queries."""
    wanted = Wanted()
    listed = list(changes)
    for document in documents:
        for kind, ids in wanted_by(listed, document).ids.items():
            wanted.ids[kind] |= ids
    return found(wanted)


def found(wanted: Wanted) -> References:
    posts, terms = wanted.ids["post-reference"], wanted.ids["taxonomy-reference"]
    return References(
        media={id_: media_view(asset) for id_, asset in assets(wanted.ids["media"]).items()},
        posts={
            str(
                row["pk"]
            ): f"{row['title']} · {type_label(row['type'])} · {row['path'] or row['locale']}"
            for row in (
                Post.objects.filter(pk__in=posts).values("pk", "title", "type", "path", "locale")
                if posts
                else ()
            )
        },
        terms={
            str(pk): f"{name} · {taxonomy}"
            for pk, name, taxonomy in (
                Term.objects.filter(pk__in=terms).values_list("pk", "name", "taxonomy")
                if terms
                else ()
            )
        },
    )


def media_view(asset: Asset) -> MediaView:
    """The thumbnail of an asset; `url` is empty for what is no image."""
    small = asset.variants.get("small") if isinstance(asset.variants, dict) else None
    url = ""
    if asset.mime.startswith("image/") and asset.file:
        name = small.get("file") if isinstance(small, dict) else small
        url = asset.file.storage.url(str(name)) if name else asset.file.url
    return MediaView(asset.filename, url, asset.alt_text, asset.width, asset.height)
