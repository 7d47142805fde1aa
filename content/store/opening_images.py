"""The image of a post without a featured image: the image of its opening module, used in lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol
from uuid import UUID

import orjson
from django.db.models import Case, OuterRef, TextField, Value, When

from content.models import PostModule
from content.store.media_usage import media_shown_in
from media.models import Asset
from media.queries import load_assets_by_name
from proofroom.core.database.json_text import JSONObject, rows_as_text
from proofroom.core.json import Json
from proofroom.definitions import modules

NO_MODULE: Final = "[]"


def opening_media(shown: Iterable[tuple[str, Mapping[str, Json]]]) -> Sequence[str]:
    """Return the ids and names of the files in the first module that opens a page.

    `shown`: type and props of each module, in order.
    """
    for type_name, props in shown:
        definition = modules.get(type_name)
        if definition is not None and definition.opens_page:
            return [str(token) for token in media_shown_in(definition.Props, props)]
    return []


def opening_module() -> Case:
    """Return an annotation of posts: the live opening module as text for `media_of_opening_module`."""
    types = [name for name, module in modules.all().items() if module.opens_page] or [""]
    placed = PostModule.objects.filter(post_id=OuterRef("pk"), instance__type__in=types)
    first = placed.order_by("order_index", "id").values(
        entry=JSONObject(type="instance__type", props="instance__props", overrides="overrides")
    )[:1]
    # The CASE saves the subquery for posts with a featured image.
    return Case(
        When(featured_media_id=None, then=rows_as_text(first)),
        default=Value(NO_MODULE),
        output_field=TextField(),
    )


@lru_cache(maxsize=2000)
def media_of_opening_module(text: str) -> Sequence[str]:
    """Return the ids and names of the files in a result of `opening_module`, in order."""
    if text == NO_MODULE:
        return []
    return opening_media(
        (row["type"], {**row["props"], **(row["overrides"] or {})}) for row in orjson.loads(text)
    )


class PostWithImage(Protocol):
    """A post with its featured image, for `load_pictures`."""

    @property
    def pk(self) -> UUID: ...
    @property
    def featured_media(self) -> Asset | None: ...


def load_pictures(posts: Sequence[PostWithImage]) -> dict[UUID, Asset]:
    """Return the images of posts by id. The posts need `opening=opening_module()` and their featured images.

    One query if opening modules show images, else none.
    """
    pictures = {post.pk: post.featured_media for post in posts if post.featured_media is not None}
    named = {
        post.pk: media_of_opening_module(post.opening)  # type: ignore[attr-defined]  # an annotation
        for post in posts
        if post.pk not in pictures
    }
    keys = {key for keys in named.values() for key in keys}
    # Names of stored files contain a slash, ids do not.
    names = {key for key in keys if "/" in key}
    found = load_assets_by_name(keys - names, names)
    known = {**found.by_id, **found.by_name}
    opened = {
        pk: next((known[key] for key in keys if key in known), None) for pk, keys in named.items()
    }
    return pictures | {pk: asset for pk, asset in opened.items() if asset is not None}
