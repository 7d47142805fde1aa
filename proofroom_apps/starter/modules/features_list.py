from __future__ import annotations

from proofroom.definitions import AIGuidance, Icon, Module, ModuleProps, Repeater, Text, Textarea


class Feature(ModuleProps):
    add_label = "Add feature"

    icon: str = Icon()
    title: str = Text(max_length=120)
    text: str = Textarea(max_length=600)


class FeaturesList(Module):
    name = "features-list"
    label = "Feature list"
    description = "Short points, each with an icon, a title and a sentence or two."
    icon = "layers"
    stylesheet = "cms/modules/features-list.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("three to nine parallel benefits, steps or properties",),
        avoid_when=(
            "fewer than three points: use prose",
            "points that need more than two sentences: use prose with headings",
        ),
        composition_notes="Titles alike in grammar, texts alike in length, best a multiple of 3.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        items: list[Feature] = Repeater(max_items=24, label="Features")
