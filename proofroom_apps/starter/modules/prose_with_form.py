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
            "what happens after sending, or how else to get in touch, is told beside a form",
        ),
        avoid_when=("there is nothing to tell beside the form: use form",),
        composition_notes=(
            "Write substantial copy that answers what people ask before they send: who reads it, how long an answer "
            "takes. Begin headings at level 2. Name a form that exists by its slug."
        ),
    )

    class Props(ModuleProps):
        content: RichTextDocument = RichText()
        heading: str = Text(
            max_length=160, label="Heading of the form", help="Leave blank to show its title."
        )
        form: str = FormReference(help="The slug of a form.")
        form_side: Literal["right", "left"] = Select(default="right", label="Side of the form")
