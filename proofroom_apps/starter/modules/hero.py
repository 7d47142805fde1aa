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


class Hero(Module):
    name = "hero"
    label = "Hero"
    description = "A hero with a headline, a line of text, a call to action and an image."
    icon = "star"
    stylesheet = "cms/modules/hero.css"
    opens_page = True
    ai = AIGuidance(
        layout_roles=("opening",),
        use_when=(
            "first module of a page or article",
            "one message and at most one action must be understood at a glance",
        ),
        avoid_when=(
            "the page already has a hero",
            "the text needs more than two sentences: use prose",
        ),
        composition_notes=(
            "Place it first; its title is then the page's h1, and an empty title shows the post's. "
            "Title up to 10 words, subtitle one or two sentences, ctaLabel a verb and its object."
        ),
    )

    class Props(ModuleProps):
        title: str = Text(max_length=160, help="Headline. Leave blank to show the post’s title.")
        subtitle: str = Textarea(max_length=400, help="One or two sentences below the headline.")
        cta_label: str = Text(max_length=60, label="Button label")
        cta_url: str = Link(
            label="Button link", help="The button is only shown if it has a label and a link."
        )
        image_id: str | None = MediaField(label="Image")
        theme: Literal["light", "dark", "accent"] = Select(default="light")
