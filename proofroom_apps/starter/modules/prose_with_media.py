from __future__ import annotations

from typing import Literal

from proofroom.definitions import (
    AIGuidance,
    Link,
    MediaField,
    Module,
    ModuleProps,
    RichText,
    RichTextDocument,
    Select,
    Text,
)


class ProseWithMedia(Module):
    name = "prose-with-media"
    label = "Prose with image"
    description = "Text with an image next to it."
    icon = "book"
    stylesheet = "cms/modules/prose-with-media.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("one to three paragraphs that a single picture supports",),
        avoid_when=(
            "several pictures: use gallery",
            "a long article: use prose, with pictures in the text",
        ),
        composition_notes="Two in a row look best with the picture at alternating sides.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        content: RichTextDocument = RichText()
        image_id: str | None = MediaField(label="Image")
        caption: str = Text(max_length=200)
        side: Literal["end", "start"] = Select(default="end", help="Position of the image.")
        size: Literal["half", "third"] = Select(
            default="half", help="Share of the width for the image."
        )
        cta_label: str = Text(max_length=60, label="Button label")
        cta_url: str = Link(
            label="Button link", help="The button is only shown if it has a label and a link."
        )
