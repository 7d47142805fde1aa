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


class HeroWithMedia(Module):
    name = "hero-with-media"
    label = "Hero with image"
    description = "A hero with a large image, a headline, a line of text and up to two buttons."
    icon = "compass"
    stylesheet = "cms/modules/hero-with-media.css"
    opens_page = True
    ai = AIGuidance(
        layout_roles=("opening",),
        use_when=(
            "first module of a page whose picture says as much as its headline",
            "a main action and a second, quieter one",
        ),
        avoid_when=(
            "there is no good picture, at least 1600 pixels wide: use hero",
            "the page already has a hero",
        ),
        composition_notes=(
            "Place it first; its title is then the page's h1, and an empty title shows the post's. "
            "start and end put the picture beside the text, below puts it under, "
            "over lets the text overlap it."
        ),
    )

    class Props(ModuleProps):
        eyebrow: str = Text(
            max_length=60, label="Line above", help="A few words above the headline."
        )
        title: str = Text(max_length=160, help="Headline. Leave blank to show the post’s title.")
        subtitle: str = Textarea(max_length=400, help="One or two sentences below the headline.")
        cta_label: str = Text(max_length=60, label="Button label")
        cta_url: str = Link(
            label="Button link", help="The button is only shown if it has a label and a link."
        )
        second_label: str = Text(max_length=60, label="Second button label")
        second_url: str = Link(label="Second button link")
        image_id: str | None = MediaField(label="Image")
        caption: str = Text(
            max_length=200, help="Shown below the image: what it shows and who made it."
        )
        layout: Literal["end", "start", "below", "over"] = Select(
            default="end", help="Position of the image: next to, below or behind the text."
        )
