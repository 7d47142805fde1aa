from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

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
from proofroom.definitions.module import AddressNote
from proofroom.definitions.props import picture, text
from proofroom_apps.embeds.presenters import EmbedCard, address_note
from proofroom_apps.embeds.providers import (
    find_frame,
    find_provider,
    frame_address,
    split_address,
)


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
        shape: Literal["automatic", "wide", "standard", "square", "tall"] = Select(
            default="automatic",
            help="16:9, 4:3, 1:1 or 3:4. Automatic takes what the provider says.",
        )

    @classmethod
    def address_problem(cls, address: str) -> str:
        if split_address(address) is None:
            return ""
        frame = find_frame(address)
        if not frame.address:
            return _("This address cannot be embedded. Visitors see a card with a link instead.")
        if frame.host in settings.CMS_ENV.embed_hosts:
            return ""
        sentence = _(
            "This site does not allow embedding from %(host)s. Visitors see a card with a link "
            "instead. An administrator can allow it with EMBED_HOSTS."
        )
        return sentence % {"host": frame.host}

    @classmethod
    def address_note(cls, address: str, *, requests_facts: bool = False) -> AddressNote | None:
        return address_note(address, requests_facts=requests_facts)

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        url = text(props, "url")
        parts = split_address(url)
        if parts is None:
            return {"address": ""}
        provider = find_provider(url)
        frame = frame_address(url, settings.CMS_ENV.embed_hosts)
        cards = context.get("embeds")
        card = cards.get(url) if isinstance(cards, Mapping) else None
        facts = card if isinstance(card, EmbedCard) else None
        shape = text(props, "shape")
        if shape == "automatic":
            shape = facts.shape if facts is not None and facts.shape else "wide"
        return {
            "address": url,
            "host": urlsplit(url).hostname,
            "frame": frame,
            "frame_host": urlsplit(frame).hostname if frame else "",
            "image": picture(context, props.get("imageId")),
            "facts": facts,
            "provider": provider.name if provider is not None else "",
            "medium": provider.medium if provider is not None else "page",
            "title": text(props, "title") or (facts.title if facts is not None else ""),
            # A player of sound is as high as its controls.
            "shape": "audio" if provider is not None and provider.medium == "audio" else shape,
        }
