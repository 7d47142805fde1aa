"""Snippets and templates of posts."""

from __future__ import annotations

from uuid import uuid4

from proofroom_apps.snippets.models import PostTemplate, Snippet
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names

SNIPPET = {
    "name": "Newsletter",
    "modules": [{"type": "callout", "props": {"title": "Get the newsletter"}}],
    "types": ["blog"],
    "locale": "en",
}


def scene() -> Names:
    snippet = make.snippet()
    make.changed_snippet(snippet, name="Brewing tip")
    post = make.post("Weekly recipe")
    template = make.template(post, "Weekly")
    return {
        "snippet_id": str(snippet.pk),
        "template_id": str(template.pk),
        "post_id": str(post.pk),
    }


def grow(number: int) -> None:
    make.copies(Snippet.objects.earliest("created_at"), number, name=lambda _: uuid4().hex)


def grow_templates(number: int) -> None:
    make.copies(PostTemplate.objects.earliest("created_at"), number, name=lambda _: uuid4().hex)


ENDPOINTS = [
    Endpoint(
        "GET /api/snippets",
        PEOPLE,
        query="?type=blog&locale=en&kind=modules",
        invalid=("?kind=image", "kind"),
        grow=grow,
    ),
    Endpoint(
        "POST /api/snippets",
        EDITORS,
        201,
        body=SNIPPET,
        invalid=({"name": "Tip", "modules": [{"type": "heroo"}]}, "modules.0.type"),
    ),
    Endpoint("GET /api/snippets/<snippet_id>", PEOPLE),
    Endpoint(
        "PUT /api/snippets/<snippet_id>",
        EDITORS,
        body={"text": "A **tip**.", "version": 2},
        invalid=({"text": {"type": "page"}}, "text"),
        stale={"name": "Tip", "version": 1},
    ),
    Endpoint("DELETE /api/snippets/<snippet_id>", EDITORS),
    Endpoint(
        "GET /api/post-templates", PEOPLE, invalid=("?type=nothing", "type"), grow=grow_templates
    ),
    Endpoint(
        "POST /api/post-templates",
        EDITORS,
        201,
        body={"name": "Recipe", "post": "<post_id>"},
        invalid=({"name": "", "post": str(uuid4())}, "name"),
    ),
    Endpoint("DELETE /api/post-templates/<template_id>", EDITORS),
]
