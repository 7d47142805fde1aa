"""Images of other sites, fetched into the library: for text that was pasted together with its pictures."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from media.models import Asset
from media.queries import load_assets_by_name
from media.services.files import AlreadyThere, Readable, TooLarge, store_image
from media.services.references import storage_name
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, invalid
from proofroom.core.http_client import CallRefused, HttpResult, Unreachable, check_url, fetch

FETCH_SECONDS: Final = 20.0
"""For the whole way to an image, redirects included."""
MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class FetchFailed(CmsError):
    """The other site did not give the image. Another try may go better."""

    status = 422
    code = "image_not_fetched"


def import_image(
    *, url: str, alt_text: str = "", locale: str = "", actor: Actor
) -> tuple[Asset, bool]:
    """Fetch an image and keep it; the same file is kept once. Answers the file, and whether it is new.

    An address of a file of this site leads to that file, and nothing is fetched. Not to be called in a transaction.
    Raises `NotAllowed`, `RuleViolation`, `FetchFailed`, and what `store_image` raises; then nothing is stored.
    """
    actor.require_person("import images")
    actor.require("media.upload")
    check_url(url)
    if name := storage_name(url):
        known = load_assets_by_name((), (name,)).by_name.get(name)
        if known is None:
            raise invalid("url", _("This file is no longer in the library."))
        return known, False
    content, address = _fetch_image(url)
    return keep_image(
        file=BytesIO(content),
        filename=PurePosixPath(unquote(urlsplit(address).path)).name or "image",
        alt_text=alt_text,
        locale=locale,
        actor=actor,
    )


def keep_image(
    *, file: Readable, filename: str, alt_text: str = "", locale: str = "", actor: Actor
) -> tuple[Asset, bool]:
    """Keep an image that came with pasted text; the same file is kept once. Answers the file, and whether it is new.

    The alternative text is that of `locale`, the default language where none is given. What is said of a file that
    is there already stays. Raises what `store_image` raises.
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
    except AlreadyThere as error:
        return error.asset, False
    return asset, True


def _fetch_image(url: str) -> tuple[bytes, str]:
    """The bytes, and the address that gave them. Each redirect is judged like the first address."""
    limit, end = settings.CMS_ENV.media_max_bytes, time.monotonic() + FETCH_SECONDS
    for _hop in range(MAX_REDIRECTS + 1):
        answer = _call(url, seconds=end - time.monotonic(), max_bytes=limit)
        if answer.status in _REDIRECTS and (target := answer.headers.get("location")):
            url = urljoin(url, target)
            continue
        if answer.status != 200:
            raise FetchFailed(
                _("The other site answered with status %(status)s.") % {"status": answer.status}
            )
        if len(answer.body) >= limit and answer.note:
            raise TooLarge(
                _("The file is larger than %(media_max_bytes)s MB.")
                % {"media_max_bytes": f"{limit / 1024 / 1024:g}"},
                details={"file": [_("too large")]},
            )
        if answer.note:
            raise FetchFailed(_("The other site did not send the whole image."))
        return answer.body, url
    raise FetchFailed(_("The address redirects too often."))


def _call(url: str, *, seconds: float, max_bytes: int) -> HttpResult:
    if seconds <= 0:
        raise FetchFailed(_("The other site took too long to answer."))
    try:
        return fetch(
            "GET", url, headers={"Accept": "image/*"}, seconds=seconds, max_bytes=max_bytes
        )
    except CallRefused:
        # Without the guard's own words: they tell what the names of the network lead to.
        raise invalid("url", _("This site may not fetch images from that address.")) from None
    except Unreachable:
        raise FetchFailed(_("The other site could not be reached.")) from None
