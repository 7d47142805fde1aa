from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import parse_qs, quote, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    MediaField,
    Module,
    ModuleProps,
    Select,
    Text,
    Textarea,
    Url,
)
from proofroom.definitions.props import picture, text
from proofroom.definitions.richtext.links import safe_href

_YOUTUBE: Final = ("www.youtube.com", "youtube.com", "m.youtube.com", "youtu.be")
_VIMEO: Final = ("vimeo.com", "www.vimeo.com")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{6,20}", re.ASCII)


def find_frame(url: str) -> tuple[str, str]:
    """Return the address a frame loads ("" if none) and the host that must be allowed."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        port = parts.port
    # Raised for an invalid port or IPv6 address.
    except ValueError:
        return "", ""
    if host in _YOUTUBE:
        steps = [step for step in parts.path.split("/") if step]
        if host == "youtu.be":
            key = steps[0] if steps else ""
        elif steps and steps[0] in {"embed", "shorts", "live"}:
            key = steps[1] if len(steps) > 1 else ""
        else:
            key = parse_qs(parts.query).get("v", [""])[0]
        address, host = (
            (
                f"https://www.youtube-nocookie.com/embed/{key}?autoplay=1"
                if _KEY.fullmatch(key)
                else ""
            ),
            "www.youtube-nocookie.com",
        )
    elif host in _VIMEO:
        found = re.fullmatch(r"/(\d{5,12})(?:/(\w{6,20}))?/?", parts.path, re.ASCII)
        if found is None:
            vimeo = ""
        else:
            # Unlisted videos have a second part in their address, which the player needs as `h`.
            secret = f"&h={quote(found[2])}" if found[2] else ""
            vimeo = f"https://player.vimeo.com/video/{found[1]}?dnt=1&autoplay=1{secret}"
        address, host = vimeo, "player.vimeo.com"
    else:
        address = url if parts.scheme == "https" and port in (None, 443) else ""
    return address if parts.username is None else "", host


def frame_address(url: str, hosts: tuple[str, ...]) -> str:
    """Return the address a frame may load, or "" if its host is not allowed."""
    address, host = find_frame(url)
    return address if host in hosts else ""


class Embed(Module):
    name = "embed"
    label = "Embed"
    description = (
        "A video, map or page from another site, loaded on click. Without embedding, "
        "a card with a link."
    )
    icon = "globe"
    stylesheet = "cms/modules/embed.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("a video or map from another site belongs in the text",),
        avoid_when=(
            "the point can be made in words: link in the text",
            "the page must work without the other site",
        ),
        composition_notes=(
            "Always give a title, and say in the description what the reader will see. "
            "Give the address of the page itself, never HTML. Nothing is loaded before a reader asks for it."
        ),
    )

    class Props(ModuleProps):
        url: str = Url(
            label="Address", help="Address of the video or page, starting with https://."
        )
        heading: str = Text(max_length=160, help="Shown above, as the heading of this part.")
        title: str = Text(max_length=160, help="Names the video or page itself.")
        description: str = Textarea(max_length=600)
        image_id: str | None = MediaField(label="Image", help="Shown until the content is loaded.")
        shape: Literal["wide", "standard", "square", "tall"] = Select(
            default="wide", help="16:9, 4:3, 1:1 or 3:4."
        )

    @classmethod
    def address_problem(cls, address: str) -> str:
        if not safe_href(address):
            return ""
        frame, host = find_frame(address)
        if not frame:
            return _("This address cannot be embedded. Visitors see a card with a link instead.")
        if host in settings.CMS_ENV.embed_hosts:
            return ""
        sentence = _(
            "This site does not allow embedding from %(host)s. Visitors see a card with a link "
            "instead. An administrator can allow it with EMBED_HOSTS."
        )
        return sentence % {"host": host}

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        url = text(props, "url")
        # safe_href() also allows paths, and mailto and tel addresses.
        if not url.lower().startswith(("http://", "https://")) or not safe_href(url):
            return {"address": ""}
        frame = frame_address(url, settings.CMS_ENV.embed_hosts)
        return {
            "address": url,
            "host": urlsplit(url).hostname,
            "frame": frame,
            "frame_host": urlsplit(frame).hostname if frame else "",
            "image": picture(context, props.get("imageId")),
        }
