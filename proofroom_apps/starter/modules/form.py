from __future__ import annotations

from proofroom.definitions import AIGuidance, FormReference, Module, ModuleProps, Text, Textarea


class Form(Module):
    name = "form"
    label = "Form"
    description = "A form that visitors fill in: contact, registration, order."
    icon = "message"
    stylesheet = "cms/modules/form.css"
    ai = AIGuidance(
        layout_roles=("closing", "body"),
        use_when=("visitors should write, register or ask for something on this page",),
        avoid_when=("the form needs text beside it: use prose-with-form",),
        composition_notes=(
            "Use the slug of an existing form. Near the end of the page, once. An empty heading shows the form's "
            "own title."
        ),
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160, help="Leave blank to show the form’s title.")
        intro: str = Textarea(
            max_length=600, label="Introduction", help="Leave blank to show the form’s description."
        )
        form: str = FormReference(help="The slug of a form.")
