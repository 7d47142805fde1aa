"""A post with an object of every kind to decide on."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from agents_app.models import AgentRun
from content.models import Layer, Post
from content.store import document_edits
from tests import make

BEFORE = (
    "Good filter coffee needs no machine. A scale, a kettle and ten minutes are enough.\n\n"
    "## What you need\n\n- 40 g of coffee, freshly ground\n- 600 ml of water at 94 °C\n- a paper filter\n\n"
    "Rinse the filter with hot water. Pour in circles, slowly, and let the coffee bloom for 30 seconds."
)
AFTER = (
    "Good filter coffee needs no machine. A scale, a kettle and ten quiet minutes are enough.\n\n"
    "## What you need\n\n- 36 g of coffee, freshly ground\n- 600 ml of water at 94 °C\n- a paper filter\n\n"
    "Rinse the filter with hot water first, so that the coffee does not taste of paper. Pour in slow circles "
    "and let the coffee bloom for 45 seconds. See [our guide to grinding](https://example.com/grinding)."
)


def coffee(layer: Layer = Layer.AI_REVIEW) -> Post:
    """Create the blog post with ten changes of all kinds, one of them safe."""
    topic, other = make.term("Coffee"), make.term("Guides")
    post = make.post(
        markdown=BEFORE,
        excerpt="One recipe ,  a scale and ten minutes",
        taxonomyTermIds=[str(topic.pk)],
    )
    hero, prose, faq = (make.module_id(post, name) for name in ("hero", "prose", "faq"))
    run = AgentRun.objects.create(
        agent_id="general-assistant",
        scope="dropdown",
        post=post,
        by=make.user("editor"),
        by_name="editor",
        via="admin",
        status="succeeded",
        provider="demo",
        model="demo",
        summary="Sharper title, a description, one question answered.",
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    run.steps.create(
        number=1, kind="model", name="demo", ok=True, milliseconds=12, summary="answered"
    )

    def edit(document: Any) -> Any:
        document = document_edits.patch_fields(
            document,
            {
                "title": "How to brew filter coffee: a simple guide",
                "metaDescription": "Brew filter coffee by hand in ten minutes: 36 g of coffee, 600 ml of water, "
                "and four steps from rinsing the paper filter to the last slow pour, with answers to questions.",
                "excerpt": "One recipe, a scale and ten minutes.",
                "taxonomyTermIds": [str(topic.pk), str(other.pk)],
            },
        )
        document = document_edits.update_module(
            document,
            hero,
            props={"subtitle": "Ten quiet minutes, one good cup.", "theme": "dark"},
        )
        document = document_edits.update_module(document, prose, content_markdown=AFTER)
        document = document_edits.update_module(
            document,
            faq,
            props={
                "heading": "Questions",
                "items": [
                    {
                        "question": "How fine should I grind?",
                        "answer": {
                            "type": "doc",
                            "content": [
                                {
                                    "type": "paragraph",
                                    "content": [{"type": "text", "text": "Like coarse sand."}],
                                }
                            ],
                        },
                    }
                ],
            },
        )
        document, _ = document_edits.add_module(
            document,
            type="callout",
            props={"title": "No scale?", "tone": "warning"},
            content_markdown=None,
            index=1,
        )
        return document

    by = (
        make.agent_actor("general-assistant", str(run.pk))
        if layer == Layer.AI_REVIEW
        else make.actor("editor")
    )
    make.staged(post, edit=edit, layer=layer, by=by)
    run.staged = list(make.layers(post).view(layer).changes.paths)
    run.save()
    return post
