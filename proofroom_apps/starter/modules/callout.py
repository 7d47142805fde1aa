from __future__ import annotations

from typing import Literal

from proofroom.definitions import (
    AIGuidance,
    Link,
    Module,
    ModuleProps,
    RichText,
    RichTextDocument,
    Select,
    Text,
)


class Callout(Module):
    name = "callout"
    label = "Callout"
    description = "A box that stands out: a note, a warning, or a short invitation with a button."
    icon = "bolt"
    stylesheet = "cms/modules/callout.css"
    ai = AIGuidance(
        layout_roles=("aside", "closing"),
        use_when=(
            "one note or warning that must not be missed",
            "an invitation to act at the end of a section or page",
        ),
        avoid_when=("more than two on a page: none of them stands out any more",),
        composition_notes="One short paragraph. The tone fits the message, not the brand.",
    )

    class Props(ModuleProps):
        title: str = Text(max_length=160)
        body: RichTextDocument = RichText()
        tone: Literal["info", "success", "warning"] = Select(default="info")
        cta_label: str = Text(max_length=60, label="Button label")
        cta_url: str = Link(
            label="Button link", help="The button is only shown if it has a label and a link."
        )
