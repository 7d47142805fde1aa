from __future__ import annotations

from proofroom.definitions import AIGuidance, Module, ModuleProps, RichText, RichTextDocument


class Prose(Module):
    name = "prose"
    label = "Prose"
    description = "Text with headings, lists, quotes, tables and links."
    icon = "pen"
    stylesheet = "cms/modules/prose.css"
    ai = AIGuidance(
        layout_roles=("body",),
        use_when=("explaining, telling or arguing in several paragraphs", "the body of an article"),
        avoid_when=(
            "questions with answers: use faq",
            "parallel short points: use features-list",
        ),
        composition_notes=(
            "Write substantial copy of several paragraphs. Begin headings at level 2, since the "
            "page's title is level 1; do not repeat the title. One prose module can hold a whole article."
        ),
    )

    class Props(ModuleProps):
        content: RichTextDocument = RichText()
