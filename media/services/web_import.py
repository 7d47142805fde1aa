"""Import of images from other sites into the library, for text pasted with images."""

from __future__ import annotations

from io import BytesIO
from pathlib import PurePosixPath
from threading import BoundedSemaphore
from typing import Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from media.models import Asset
from media.queries import load_assets_by_name
from media.scopes import filter_visible_assets
from media.services.files import DuplicateFile, Readable, store_image
from media.services.references import storage_name
from media.services.web_files import FetchFailed, fetch_file
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.http_client import check_url

_FETCHES: Final = BoundedSemaphore(2)
"""Number of concurrent fetches per process, because each one occupies a thread."""


def import_image(
    *,
    url: str,
    alt_text: str = "",
    locale: str = "",
    actor: Actor,
) -> tuple[Asset, bool]:
    """Fetch an image and store it, or return the existing asset with the same content. The bool is True if it is
    new.

    The URL of a file of this site returns its asset without a fetch. Must not be called in a transaction.
    Raises `NotAllowed`, `RuleViolation`, `FetchFailed`, and what `store_image` raises; then nothing is stored.
    """
    actor.require_person("import images")
    actor.require("media.upload")
    check_url(url)
    if name := storage_name(url):
        known = filter_visible_assets(load_assets_by_name((), (name,)).by_name, actor).get(name)
        if known is None:
            raise invalid("url", _("This file is no longer in the library."))
        return known, False
    if not _FETCHES.acquire(blocking=False):
        raise FetchFailed(_("Too many images are being fetched right now. Try again."))
    try:
        content, address = fetch_file(url)
    finally:
        _FETCHES.release()
    return store_pasted_image(
        file=BytesIO(content),
        filename=PurePosixPath(unquote(urlsplit(address).path)).name or "image",
        alt_text=alt_text,
        locale=locale,
        actor=actor,
    )


def store_pasted_image(
    *,
    file: Readable,
    filename: str,
    alt_text: str = "",
    locale: str = "",
    actor: Actor,
) -> tuple[Asset, bool]:
    """Store an image from pasted text, or return the existing asset with the same content. The bool is True if it
    is new.

    `alt_text` is in `locale`, by default the default language. Metadata of an existing asset is unchanged.
    Raises what `store_image` raises.
    """
    actor.require_person("import images")
    is_default = locale in ("", settings.CMS_ENV.default_locale)
    try:
        asset = store_image(
            file=file,
            filename=filename,
            alt_text=alt_text if is_default else "",
            alt_texts={} if is_default else {locale: alt_text},
            is_new_only=True,
            is_image_only=True,
            actor=actor,
        )
    except DuplicateFile as error:
        return error.asset, False
    return asset, True
