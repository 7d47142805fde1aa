"""The images that a page shows, found by the definitions of its modules and read in one query.

Images of media fields are known by their ids, those in rich text by the names of their files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from content.definitions import ModuleProps
from content.media_uses import shown_in
from media.presenters import SiteImage, site_image
from media.queries import assets_for


def images(keys: Iterable[str]) -> dict[str, SiteImage]:
    """The images of these ids and names of files, as pages show them. One query, none for none."""
    wanted = set(keys)
    names = {key for key in wanted if "/" in key}
    found = assets_for(wanted - names, names)
    shown = {key: site_image(asset) for key, asset in {**found.by_id, **found.by_name}.items()}
    return {key: image for key, image in shown.items() if image is not None}


def media_ids(props: type[ModuleProps], values: object) -> Iterator[str]:
    """Every id in the media fields of props, and every name of a file of ours that their rich text shows."""
    return (str(token) for token in shown_in(props, values))
