from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.json import Json
from proofroom.definitions import AIGuidance, Module, ModuleProps, Repeater, Text, Textarea
from proofroom.definitions.props import entries, text


class Statistic(ModuleProps):
    add_label = "Add number"

    value: str = Text(max_length=24, help="As shown to visitors: 3,200 or 98 %.")
    label: str = Text(max_length=120, help="What the number stands for.")
    note: str = Text(max_length=200, help="When, where, or by whom it was counted.")


class Statistics(Module):
    name = "statistics"
    label = "Statistics"
    description = "A few large numbers, each with a label."
    icon = "target"
    stylesheet = "cms/modules/statistics.css"
    ai = AIGuidance(
        layout_roles=("support",),
        use_when=("two to six figures that are known to be true",),
        avoid_when=(
            "the figures are guessed: leave them out",
            "more than six, or figures by category: use table",
        ),
        composition_notes="Numbers short and in one style. Say in the note when and how they were counted.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        items: list[Statistic] = Repeater(max_items=12, label="Numbers")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        # A description list needs both the term and its value.
        found = entries(props, "items")
        return {"figures": [item for item in found if text(item, "value") and text(item, "label")]}
