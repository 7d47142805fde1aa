"""The images that a page shows, found by the definitions of its modules and read in one query.

Images of media fields are known by their ids, those in rich text by the names of their files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from content.media_usage import media_shown_in
from media.file_addresses import storage_name
from media.presenters import SiteImage, site_image
from media.queries import load_assets_by_name
from proofroom.definitions import ModuleProps
from proofroom.definitions.richtext.html import TextImage


def images(keys: Iterable[str], locale: str) -> dict[str, SiteImage]:
    """The images of these ids and names of files, as pages in this language show them. One query, none for none."""
    wanted = set(keys)
    names = {key for key in wanted if "/" in key}
    found = load_assets_by_name(wanted - names, names)
    shown = {
        key: site_image(asset, locale) for key, asset in {**found.by_id, **found.by_name}.items()
    }
    return {key: image for key, image in shown.items() if image is not None}


def media_ids(props: type[ModuleProps], values: object) -> Iterator[str]:
    """Every id in the media fields of props, and every name of a file of ours that their rich text shows."""
    return (str(token) for token in media_shown_in(props, values))


def replace_own_images(media: Mapping[str, SiteImage]) -> Callable[[str], TextImage | None]:
    """What running text shows for an address: an image of ours, one whose file is gone, or None for a foreign one."""

    def image_at(address: str) -> TextImage | None:
        name = storage_name(address)
        if name is None:
            return None
        image = media.get(name)
        if image is None:
            return TextImage()
        return TextImage(
            url=image["url"],
            alt=image["alt"],
            width=image["width"],
            height=image["height"],
            srcset=image["srcset"],
            sizes=image["sizes"],
            dark_srcset=image["dark_srcset"],
        )

    return image_at
