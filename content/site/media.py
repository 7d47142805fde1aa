"""The images that a page shows, found by the definitions of its modules and read in one query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from content.definitions import ModuleProps, modules, post_types, props_of
from content.models import Post
from content.site.rendering import RenderableModule
from media.presenters import SiteImage, site_image
from media.queries import assets

_DEEPEST = 8


def images_of(post: Post, items: Iterable[RenderableModule]) -> dict[str, SiteImage]:
    """The images of a post's modules and custom fields, by id. One query, none for none."""
    wanted: set[str] = set()
    for item in items:
        definition = modules.get(item.type)
        if definition is not None:
            wanted.update(media_ids(definition.Props, item.props))
    post_type = post_types.get(post.type)
    if post_type is not None:
        wanted.update(media_ids(post_type.CustomFields, post.custom_fields))
    shown = {id_: site_image(asset) for id_, asset in assets(wanted).items()}
    return {id_: image for id_, image in shown.items() if image is not None}


def media_ids(props: type[ModuleProps], values: object, depth: int = 0) -> Iterator[str]:
    """Every id in the media fields of props, however deep, whatever else is stored there."""
    if not isinstance(values, Mapping) or depth > _DEEPEST:
        return
    for prop in props_of(props).values():
        value = values.get(prop.name)
        if prop.kind == "media" and isinstance(value, str):
            yield value
        elif prop.nested is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from media_ids(prop.nested, item, depth + 1)
