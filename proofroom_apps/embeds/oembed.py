"""Fetch facts about an address from the oEmbed endpoint of its provider, through the address guard.

The answer is untrusted input: only texts, sizes and the address of a thumbnail are read from it, never HTML.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2s
from io import BytesIO
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

import orjson
from PIL import Image

from media.images import clean
from proofroom.core.errors import RuleViolation
from proofroom.core.http_client import CallRefused, HttpResult, Unreachable, fetch
from proofroom.core.json import Json
from proofroom.core.validation.limits import URL_MAX
from proofroom_apps.embeds.models import TEXT_MAX
from proofroom_apps.embeds.providers import Provider

SECONDS: Final = 10.0
"""Time for an answer with its redirects, and again for the thumbnail."""
ANSWER_MAX_BYTES: Final = 64 * 1024
THUMBNAIL_MAX_BYTES: Final = 4 * 1024 * 1024
THUMBNAIL_WIDTH: Final = 960
_THUMBNAIL_MAX_PIXELS: Final = 20_000_000
_MAX_REDIRECTS: Final = 3
_MAX_SIZE: Final = 10_000
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TRY_LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class NoFacts(Exception):
    """The provider gave no usable answer. `is_temporary` is True if a later attempt may succeed."""

    def __init__(self, reason: str, *, is_temporary: bool) -> None:
        super().__init__(reason)
        self.is_temporary = is_temporary


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A WebP image, made from the provider's."""

    content: bytes
    width: int
    height: int

    @property
    def digest(self) -> str:
        return blake2s(self.content, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a provider says about an address. Sizes are None where it names none."""

    title: str
    author: str
    width: int | None
    height: int | None
    thumbnail: Thumbnail | None


def fetch_facts(provider: Provider, url: str) -> Facts:
    """Return the facts about an address. Raises `NoFacts`."""
    query = urlencode({"url": url, "format": "json", "maxwidth": THUMBNAIL_WIDTH})
    separator = "&" if urlsplit(provider.endpoint).query else "?"
    answer = _follow(f"{provider.endpoint}{separator}{query}", "application/json", ANSWER_MAX_BYTES)
    if answer.note:
        raise NoFacts("The answer is too long or broke off.", is_temporary=False)
    try:
        found: Json = orjson.loads(answer.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NoFacts("The answer is not oEmbed JSON.", is_temporary=False)
    return Facts(
        title=_text(found.get("title")),
        author=_text(found.get("author_name")),
        width=_size(found.get("width")),
        height=_size(found.get("height")),
        thumbnail=_thumbnail(found.get("thumbnail_url")),
    )


def _follow(url: str, accept: str, max_bytes: int) -> HttpResult:
    """Return the successful answer, after redirects. The guard checks each address. Raises `NoFacts`."""
    end = time.monotonic() + SECONDS
    for _hop in range(_MAX_REDIRECTS + 1):
        seconds = end - time.monotonic()
        try:
            answer = fetch(
                "GET",
                url,
                headers={"Accept": accept},
                seconds=max(seconds, 0.1),
                max_bytes=max_bytes,
            )
        except CallRefused:
            # Without the guard's message, which reveals what names of the internal network resolve to.
            raise NoFacts("The address may not be called.", is_temporary=False) from None
        except Unreachable:
            raise NoFacts("The provider could not be reached.", is_temporary=True) from None
        if answer.status in _REDIRECTS and (target := answer.headers.get("location")):
            url = _join(url, target)
            continue
        if answer.status != 200:
            reason = f"The provider answered with status {answer.status}."
            raise NoFacts(reason, is_temporary=answer.status in _TRY_LATER)
        return answer
    raise NoFacts("The provider redirects too often.", is_temporary=False)


def _join(url: str, target: str) -> str:
    try:
        return urljoin(url, target)
    except ValueError:
        # Not raised to the task: one bad answer would keep the other addresses of its batch waiting.
        raise NoFacts("The provider redirects to no address.", is_temporary=False) from None


def _text(value: Json) -> str:
    """Return a text as one line without control characters; "" for other values."""
    if not isinstance(value, str):
        return ""
    visible = "".join(one if one.isprintable() else " " for one in value[: 10 * TEXT_MAX])
    return " ".join(visible.split())[:TEXT_MAX]


def _size(value: Json) -> int | None:
    """Return a number of pixels. Some providers write it as text, or as a percentage, which says nothing."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 1 <= value <= _MAX_SIZE else None


def _thumbnail(url: Json) -> Thumbnail | None:
    """Return the thumbnail, decoded and encoded again; None if there is none that can be shown."""
    if not isinstance(url, str) or len(url) > URL_MAX:
        return None
    try:
        answer = _follow(url, "image/*", THUMBNAIL_MAX_BYTES)
    except NoFacts:
        return None
    if answer.note:
        return None
    try:
        upright = clean(answer.body, max_pixels=_THUMBNAIL_MAX_PIXELS)
        with Image.open(BytesIO(upright.content)) as image:
            image.thumbnail((THUMBNAIL_WIDTH, THUMBNAIL_WIDTH))
            small = image.convert("RGB")
    except (RuleViolation, OSError, ValueError):
        return None
    out = BytesIO()
    small.save(out, "WEBP", quality=75, method=4)
    return Thumbnail(out.getvalue(), *small.size)
