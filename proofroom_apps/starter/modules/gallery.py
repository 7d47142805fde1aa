from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    MediaField,
    Module,
    ModuleProps,
    Repeater,
    Select,
    Text,
    Textarea,
)
from proofroom.definitions.props import entries, picture


class Picture(ModuleProps):
    add_label = "Add image"

    image_id: str | None = MediaField(label="Image")
    caption: str = Text(max_length=300)


class Gallery(Module):
    name = "gallery"
    label = "Gallery"
    description = "Images with captions that open in full size."
    icon = "layers"
    stylesheet = "cms/modules/gallery.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("three or more pictures that belong together",),
        avoid_when=(
            "one picture: use prose-with-media",
            "company logos: use logos",
        ),
        composition_notes=(
            "grid crops to one shape, columns keeps each picture whole, strip is one row that "
            "scrolls. Every picture has its own description among the media."
        ),
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        layout: Literal["grid", "columns", "strip"] = Select(default="grid")
        items: list[Picture] = Repeater(max_items=60, label="Images")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        found = ((item, picture(context, item.get("imageId"))) for item in entries(props, "items"))
        return {"pictures": [(item, image) for item, image in found if image]}
