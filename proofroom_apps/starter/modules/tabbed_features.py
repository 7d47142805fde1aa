from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    Link,
    MediaField,
    Module,
    ModuleProps,
    Repeater,
    RichText,
    RichTextDocument,
    Text,
    Textarea,
)
from proofroom.definitions.props import entries, picture, text


class Tab(ModuleProps):
    add_label = "Add tab"

    label: str = Text(max_length=40, help="On the tab: one to three words.")
    title: str = Text(max_length=160)
    content: RichTextDocument = RichText()
    image_id: str | None = MediaField(label="Image")
    cta_label: str = Text(max_length=60, label="Button label")
    cta_url: str = Link(
        label="Button link", help="The button is only shown if it has a label and a link."
    )


class TabbedFeatures(Module):
    name = "tabbed-features"
    label = "Tabbed features"
    description = "Tabs, each with text, an image and a button."
    icon = "layers"
    stylesheet = "cms/modules/tabbed-features.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("two to five parallel features or audiences that readers choose between",),
        avoid_when=(
            "readers compare the views: use table or features-list",
            "more than six, or long text: use accordions",
        ),
        composition_notes="Labels of one to three words, alike in grammar; texts alike in length.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        items: list[Tab] = Repeater(max_items=8, label="Tabs")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        found = [item for item in entries(props, "items") if text(item, "label")]
        return {
            "tabs": [{**item, "image": picture(context, item.get("imageId"))} for item in found]
        }
