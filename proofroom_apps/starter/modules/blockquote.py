from __future__ import annotations

from typing import Literal

from proofroom.definitions import (
    AIGuidance,
    Link,
    MediaField,
    Module,
    ModuleProps,
    Select,
    Text,
    Textarea,
)


class Blockquote(Module):
    name = "blockquote"
    label = "Quote"
    description = "A quote with the person, their role and the source."
    icon = "message"
    stylesheet = "cms/modules/blockquote.css"
    ai = AIGuidance(
        layout_roles=("aside", "support"),
        use_when=("the exact words of one person or work carry the point",),
        avoid_when=(
            "several customers are quoted: use testimonial-list",
            "nobody said it: never invent a quotation, use callout",
        ),
        composition_notes="At most three sentences, without quotation marks: the page adds them.",
    )

    class Props(ModuleProps):
        quote: str = Textarea(max_length=1200, help="Without quotation marks.")
        who: str = Text(max_length=120, help="The person or work.")
        role: str = Text(max_length=160)
        source_label: str = Text(max_length=160, label="Source")
        source_url: str = Link(label="Link to the source")
        image_id: str | None = MediaField(label="Portrait")
        look: Literal["plain", "large", "card"] = Select(default="plain")
