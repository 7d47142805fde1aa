"""Sites whose pages can be embedded: their hosts, oEmbed endpoints and frames.

To add one that is not in the list, name its host and oEmbed endpoint in OEMBED_PROVIDERS. Its frame is the address
itself, if EMBED_HOSTS has the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from django.conf import settings

from proofroom.core.validation.limits import URL_MAX
from proofroom.definitions.richtext.links import safe_href

Medium = Literal["video", "audio", "page"]
_VIDEO_KEY: Final = re.compile(r"[A-Za-z0-9_-]{6,20}", re.ASCII)
_NAME: Final = r"[A-Za-z0-9_.-]{1,100}"


@dataclass(frozen=True, slots=True)
class Provider:
    """A site. `frame` returns the address of its player, "" if the address has none; `frame_host` is its host.

    `endpoint` answers oEmbed requests. A provider from the settings has no player of its own.
    """

    name: str
    hosts: tuple[str, ...]
    endpoint: str
    medium: Medium = "page"
    frame_host: str = ""
    frame: Callable[[SplitResult], str] = lambda _parts: ""


def _youtube(parts: SplitResult) -> str:
    steps = [step for step in parts.path.split("/") if step]
    if (parts.hostname or "").lower() == "youtu.be":
        key = steps[0] if steps else ""
    elif steps and steps[0] in {"embed", "shorts", "live"}:
        key = steps[1] if len(steps) > 1 else ""
    else:
        key = parse_qs(parts.query).get("v", [""])[0]
    if not _VIDEO_KEY.fullmatch(key):
        return ""
    return f"https://www.youtube-nocookie.com/embed/{key}?autoplay=1"


def _vimeo(parts: SplitResult) -> str:
    found = re.fullmatch(r"/(\d{5,12})(?:/(\w{6,20}))?/?", parts.path, re.ASCII)
    if found is None:
        return ""
    # Unlisted videos have a second part in their address, which the player needs as `h`.
    secret = f"&h={quote(found[2])}" if found[2] else ""
    return f"https://player.vimeo.com/video/{found[1]}?dnt=1&autoplay=1{secret}"


def _spotify(parts: SplitResult) -> str:
    kinds = "track|album|playlist|episode|show|artist"
    pattern = rf"/(?:intl-[a-z]{{2}}/)?({kinds})/([A-Za-z0-9]{{10,40}})/?"
    found = re.fullmatch(pattern, parts.path, re.ASCII)
    return f"https://open.spotify.com/embed/{found[1]}/{found[2]}" if found else ""


def _soundcloud(parts: SplitResult) -> str:
    if not re.fullmatch(rf"(?:/{_NAME}){{1,4}}/?", parts.path, re.ASCII):
        return ""
    page = quote(f"https://soundcloud.com{parts.path}", safe="")
    return f"https://w.soundcloud.com/player/?url={page}"


def _codepen(parts: SplitResult) -> str:
    found = re.fullmatch(rf"/({_NAME})/(?:pen|details|full)/([A-Za-z0-9]{{4,40}})/?", parts.path)
    if found is None:
        return ""
    return f"https://codepen.io/{found[1]}/embed/{found[2]}?default-tab=result"


def _dailymotion(parts: SplitResult) -> str:
    found = re.fullmatch(r"(?:/video)?/([A-Za-z0-9]{5,20})/?", parts.path, re.ASCII)
    return f"https://geo.dailymotion.com/player.html?video={found[1]}" if found else ""


def _ted(parts: SplitResult) -> str:
    found = re.fullmatch(r"/talks/([a-z0-9_]{3,150})/?", parts.path, re.ASCII)
    return f"https://embed.ted.com/talks/{found[1]}" if found else ""


PROVIDERS: Final = (
    Provider(
        "YouTube",
        ("www.youtube.com", "youtube.com", "m.youtube.com", "youtu.be"),
        "https://www.youtube.com/oembed",
        "video",
        "www.youtube-nocookie.com",
        _youtube,
    ),
    Provider(
        "Vimeo",
        ("vimeo.com", "www.vimeo.com"),
        "https://vimeo.com/api/oembed.json",
        "video",
        "player.vimeo.com",
        _vimeo,
    ),
    Provider(
        "Spotify",
        ("open.spotify.com",),
        "https://open.spotify.com/oembed",
        "audio",
        "open.spotify.com",
        _spotify,
    ),
    Provider(
        "SoundCloud",
        ("soundcloud.com", "www.soundcloud.com", "m.soundcloud.com"),
        "https://soundcloud.com/oembed",
        "audio",
        "w.soundcloud.com",
        _soundcloud,
    ),
    Provider(
        "CodePen", ("codepen.io",), "https://codepen.io/api/oembed", "page", "codepen.io", _codepen
    ),
    Provider(
        "Dailymotion",
        ("www.dailymotion.com", "dailymotion.com", "dai.ly"),
        "https://www.dailymotion.com/services/oembed",
        "video",
        "geo.dailymotion.com",
        _dailymotion,
    ),
    Provider(
        "TED",
        ("www.ted.com", "ted.com"),
        "https://www.ted.com/services/v1/oembed.json",
        "video",
        "embed.ted.com",
        _ted,
    ),
    # Photos: visitors see a card with the stored thumbnail, which links to the photo.
    Provider(
        "Flickr",
        ("www.flickr.com", "flickr.com", "flic.kr"),
        "https://www.flickr.com/services/oembed/",
    ),
)
_BY_HOST: Final = {host: provider for provider in PROVIDERS for host in provider.hosts}


@dataclass(frozen=True, slots=True)
class Frame:
    """What a page may load for an address: `address` is "" if it cannot be embedded, `host` must be allowed."""

    address: str
    host: str


def split_address(url: str) -> SplitResult | None:
    """Return the parts of an absolute http(s) address without user name; None for others."""
    if not url.lower().startswith(("http://", "https://")) or len(url) > URL_MAX:
        return None
    if not safe_href(url):
        return None
    try:
        parts = urlsplit(url)
        # Reading the port raises for an invalid one.
        is_usable = parts.port is None or parts.port > 0
    except ValueError:
        return None
    return parts if is_usable and parts.hostname and parts.username is None else None


def find_provider(url: str) -> Provider | None:
    """Return the provider of an address; None for sites that are not known."""
    parts = split_address(url)
    if parts is None:
        return None
    host = (parts.hostname or "").lower()
    endpoint = settings.CMS_ENV.oembed_providers.get(host)
    if endpoint:
        return Provider(host, (host,), endpoint)
    return _BY_HOST.get(host)


def known_hosts() -> list[str]:
    """Return the hosts of all providers, with those of the settings."""
    return sorted({*_BY_HOST, *settings.CMS_ENV.oembed_providers})


def find_frame(url: str) -> Frame:
    """Return the frame of an address, whether its host is allowed or not."""
    parts = split_address(url)
    if parts is None:
        return Frame("", "")
    host = (parts.hostname or "").lower()
    provider = _BY_HOST.get(host)
    if provider is not None:
        return Frame(provider.frame(parts), provider.frame_host)
    is_plain = parts.scheme == "https" and parts.port in (None, 443)
    return Frame(url if is_plain else "", host)


def frame_address(url: str, hosts: Collection[str]) -> str:
    """Return the address a frame may load, or "" if its host is not among these."""
    frame = find_frame(url)
    return frame.address if frame.host in hosts else ""
