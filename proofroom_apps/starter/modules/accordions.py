from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    Boolean,
    Icon,
    Module,
    ModuleProps,
    Repeater,
    RichText,
    RichTextDocument,
    Select,
    Text,
    Textarea,
)
from proofroom.definitions.props import entries, text


class Section(ModuleProps):
    add_label = "Add section"

    title: str = Text(max_length=160)
    icon: str = Icon()
    content: RichTextDocument = RichText()
    open: bool = Boolean(label="Open when the page loads")


class Accordions(Module):
    name = "accordions"
    label = "Accordions"
    description = "Sections of a longer text that readers can open one by one."
    icon = "book"
    stylesheet = "cms/modules/accordions.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("conditions, steps or specifications of which each reader needs a part",),
        avoid_when=(
            "questions with answers: use faq",
            "everybody needs all of it: use prose with headings",
            "two to five short parallel views: use tabbed-features",
        ),
        composition_notes="Titles say what is inside. Open the first only if most readers need it.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        at_a_time: Literal["many", "one"] = Select(
            default="many",
            label="At the same time",
            help="How many sections can be open at the same time.",
        )
        items: list[Section] = Repeater(max_items=30, label="Sections")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        return {"sections": [item for item in entries(props, "items") if text(item, "title")]}
