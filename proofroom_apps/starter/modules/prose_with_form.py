from __future__ import annotations

from typing import Literal

from proofroom.definitions import (
    AIGuidance,
    FormReference,
    Module,
    ModuleProps,
    RichText,
    RichTextDocument,
    Select,
    Text,
)


class ProseWithForm(Module):
    name = "prose-with-form"
    label = "Prose with form"
    description = "Text with a form next to it, stacked on narrow screens."
    icon = "pen"
    stylesheet = "cms/modules/form.css"
    ai = AIGuidance(
        layout_roles=("body", "closing"),
        use_when=(
            "a form needs text beside it: what happens after sending, or other ways to get in touch",
        ),
        avoid_when=("the form needs no text beside it: use form",),
        composition_notes=(
            "Write substantial copy that answers what people ask before they send: who reads it, how long an answer "
            "takes. Begin headings at level 2. Use the slug of an existing form."
        ),
    )

    class Props(ModuleProps):
        content: RichTextDocument = RichText()
        heading: str = Text(
            max_length=160, label="Heading of the form", help="Leave blank to show its title."
        )
        form: str = FormReference(help="The slug of a form.")
        form_side: Literal["right", "left"] = Select(default="right", label="Side of the form")
