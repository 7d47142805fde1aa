from __future__ import annotations

from proofroom.definitions import (
    AIGuidance,
    Module,
    ModuleProps,
    Repeater,
    RichText,
    RichTextDocument,
    Text,
)


class Question(ModuleProps):
    add_label = "Add question"

    question: str = Text(max_length=300)
    answer: RichTextDocument = RichText()


class Faq(Module):
    name = "faq"
    label = "Questions and answers"
    description = "Common questions, each with a short answer that opens on click."
    icon = "message"
    stylesheet = "cms/modules/faq.css"
    ai = AIGuidance(
        layout_roles=("support", "closing"),
        use_when=(
            "answering objections or practical questions after the main text",
            "three to eight questions, each answered in one to three short paragraphs",
        ),
        avoid_when=("the answers are needed to follow the text: use prose",),
        composition_notes="Near the end of the page. Phrase questions as a reader would type them.",
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        items: list[Question] = Repeater(max_items=40, label="Questions")
