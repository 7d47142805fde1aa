from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    Boolean,
    Link,
    Module,
    ModuleProps,
    Repeater,
    Text,
    Textarea,
)
from proofroom.definitions.props import entries, text


class Plan(ModuleProps):
    add_label = "Add plan"

    name: str = Text(max_length=80)
    price: str = Text(max_length=40, help="As shown to visitors: 24 €, or On request.")
    period: str = Text(max_length=60, help="per month, per person …")
    description: str = Textarea(max_length=300)
    features: str = Textarea(max_length=2000, help="What is included, one per line.")
    highlighted: bool = Boolean(help="Sets the plan apart from the others.")
    badge: str = Text(
        max_length=40, help="Label of the highlighted plan, for example Most popular."
    )
    cta_label: str = Text(max_length=60, label="Button label")
    cta_url: str = Link(
        label="Button link", help="The button is only shown if it has a label and a link."
    )


class Pricing(Module):
    name = "pricing"
    label = "Prices"
    description = "Plans side by side: price, what is included, a button."
    icon = "sparkle"
    stylesheet = "cms/modules/pricing.css"
    ai = AIGuidance(
        layout_roles=("body", "closing"),
        use_when=("one to four offers that readers compare by price and content",),
        avoid_when=(
            "prices are not known: never invent one",
            "many properties are compared line by line: use table",
        ),
        composition_notes=(
            "Order by price. Name the same things in the same order in every plan, highlight at most one, "
            "and put tax and terms in the footnote."
        ),
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        intro: str = Textarea(max_length=400)
        plans: list[Plan] = Repeater(max_items=6)
        footnote: str = Textarea(max_length=400)

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        plans: list[Mapping[str, object]] = []
        for plan in entries(props, "plans"):
            features = (line.strip() for line in text(plan, "features").split("\n"))
            if text(plan, "name"):
                plans.append({**plan, "features": [line for line in features if line]})
        return {"plans": plans}
