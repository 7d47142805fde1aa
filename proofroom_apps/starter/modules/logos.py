from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    Link,
    MediaField,
    Module,
    ModuleProps,
    Repeater,
    Select,
    Text,
    Textarea,
)
from proofroom.definitions.props import entries, picture, text


class Logo(ModuleProps):
    add_label = "Add logo"

    name: str = Text(max_length=120, translatable=False, help="Read aloud by screen readers.")
    image_id: str | None = MediaField(label="Logo")
    url: str = Link(label="Link")


class Logos(Module):
    name = "logos"
    label = "Logos"
    description = "A row of logos of partners, customers or sources, with names and links."
    icon = "people"
    stylesheet = "cms/modules/logos.css"
    ai = AIGuidance(
        layout_roles=("support", "closing"),
        use_when=("four or more organisations that really are partners or customers",),
        avoid_when=(
            "the organisation has not agreed to be named",
            "photographs: use gallery",
        ),
        composition_notes="Logos without much white around them. Without a picture, the name appears as text.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        look: Literal["plain", "muted"] = Select(default="plain", help="“Muted” removes colour.")
        items: list[Logo] = Repeater(max_items=40, label="Logos")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the items that have a name or a picture. The name is the picture's alternative text."""
        logos: list[Mapping[str, object]] = []
        for item in entries(props, "items"):
            name, image = text(item, "name"), picture(context, item.get("imageId"))
            # The text says whose logo it is, not what it looks like.
            shown = {**image, "alt": name or image.get("alt")} if image else None
            if name or image:
                logos.append({"name": name, "url": item.get("url"), "image": shown})
        return {"logos": logos}
