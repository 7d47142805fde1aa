"""Titles and thumbnails for ids, a query for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from content.changes import Change
from content.document import PostDocument
from content.models import ModuleInstance, Post
from content.review.labels import type_label
from content.review.references import MediaView, References, Wanted, collect_references
from media.models import Asset
from media.queries import load_assets
from proofroom.core.json import Json
from proofroom.taxonomies.models import Term


def references_of(changes: Iterable[Change], *documents: PostDocument) -> References:
    """Return what the ids in these changes stand for. At most four queries."""
    wanted = Wanted()
    listed = list(changes)
    shared = shared_props(listed, *documents)
    for instance_id, props in shared.items():
        for document in documents:
            types = {module.instance_id: module.type for module in document.modules}
            if instance_id in types:
                wanted.add_props(types[instance_id], props)
    for document in documents:
        for kind, ids in collect_references(listed, document).ids.items():
            wanted.ids[kind] |= ids
    return replace(load_titles(wanted), shared=shared)


def shared_props(
    changes: Iterable[Change], *documents: PostDocument
) -> dict[str, Mapping[str, Json]]:
    """The props of the global modules that these changes place, remove or override. No query where there are none."""
    touched = {
        change.module_id for change in changes if change.module_id and change.kind != "moved"
    }
    ids = {
        module.instance_id
        for document in documents
        for module in document.modules
        if module.scope == "global" and module.id in touched
    }
    if not ids:
        return {}
    rows = ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "props")
    return {str(pk): props for pk, props in rows}


def load_titles(wanted: Wanted) -> References:
    posts, terms = wanted.ids["post-reference"], wanted.ids["taxonomy-reference"]
    return References(
        media={id_: media_view(asset) for id_, asset in load_assets(wanted.ids["media"]).items()},
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
