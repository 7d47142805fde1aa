"""Test data, created with the real services. The usual accounts are admin, editor, translator, agent
and stranger.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, TypeVar

from django.db import models
from django.utils import timezone
from PIL import Image

from content.document.document import PostDocument
from content.layers import open_layers, stage
from content.layers.stage import Staged
from content.models import Layer, ModuleInstance, Post, PostModule, PostTerm
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.store import document_edits
from content.store.layer_state import Layers
from forms.models import FormDefinition, FormSubmission
from forms.services.definitions import create_form
from forms.services.submissions import submit_form
from media.models import Asset
from media.services.files import store_image
from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.roles import Role
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.accounts.services.roles import create_role
from proofroom.briefs.brief_fields import BriefChanges, NewBrief
from proofroom.briefs.models import Brief
from proofroom.briefs.services import change_brief, create_brief
from proofroom.core import outbox
from proofroom.core.actor import Actor, Via, Visitor
from proofroom.core.content_scope import ContentScope
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.taxonomies.models import Term
from proofroom.webhooks.dispatch import channel_of
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.test_calls import sample_payload
from proofroom.webhooks.services.webhooks import create_webhook
from proofroom_apps.snippets.models import PostTemplate, Snippet
from proofroom_apps.snippets.services import change_snippet, create_snippet
from proofroom_apps.snippets.snippet_fields import NewSnippet, SnippetChanges
from proofroom_apps.snippets.templates import create_template
from seo.models import NewRedirect, Redirect
from seo.services.redirects import create_redirect

PASSWORD = "correct-horse-battery"


def user(role: str = "editor", name: str = "") -> User:
    """Return the account of a role, created on first use."""
    name = name or role
    found = User.objects.filter(username=name).first()
    if found is not None:
        return found
    if role == Role.AI_AGENT:
        return ensure_agent_user(agent_id=name.replace("_", "-"), username=name)
    made = User(email=f"{name.lower()}@example.com", username=name, role=role)
    made.set_password(PASSWORD)
    # Without `full_clean`, which takes longer than all the rest.
    made.save()
    made.confirm_email()
    return made


def site_role(
    name: str, *permissions: str, label: str = "", scope: ContentScope | None = None
) -> SiteRole:
    """Create a custom role with that name."""
    role = create_role(
        label=label or name.capitalize(),
        permissions=permissions,
        actor=actor("admin"),
        scope=scope,
    )
    assert role.name == name
    return role


def actor(
    role: str = "editor", via: Via = "api", agent_id: str | None = None, run_id: str | None = None
) -> Actor:
    return Actor(user=user(role), via=via, agent_id=agent_id, run_id=run_id)


def agent_actor(agent_id: str = "seo-specialist", run_id: str | None = None) -> Actor:
    """Return the actor of an agent during its run."""
    return Actor(
        user=ensure_agent_user(agent_id=agent_id), via="agent", agent_id=agent_id, run_id=run_id
    )


def mcp_actor(role: str = "ai_agent") -> Actor:
    """Return the actor of an AI client whose credential is bound to an account of that role."""
    return Actor(user=user(role), via="mcp")


def post(
    title: str = "How to brew filter coffee",
    *,
    type: str = "blog",
    locale: str = "en",
    status: str = "published",
    translation_of: Post | None = None,
    markdown: str = "Grind the beans.\n\nPour the water.",
    **fields: Json,
) -> Post:
    """Create a live post with the locked hero, prose and faq of the blog's default group."""

    def fill(document: PostDocument) -> PostDocument:
        document = document_edits.seed_group(document, None, {})
        for module in document.modules:
            if module.type == "hero":
                document = document_edits.update_module(document, module.id, props={"title": title})
            elif module.type == "prose":
                document = document_edits.update_module(
                    document, module.id, content_markdown=markdown
                )
        return document

    return create_post(
        actor=actor("admin"),
        type=type,
        fields={"title": title, **fields},
        locale=locale,
        status=status,
        edit=fill,
        translation_of=translation_of,
    )


def picture(size: tuple[int, int] = (20, 10), kind: str = "PNG", colour: str = "teal") -> bytes:
    """Return a single-color image as a file."""
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def image(name: str = "picture.png", **said: Any) -> Asset:
    """Store an uploaded image without its variants."""
    return store_image(file=BytesIO(picture()), filename=name, actor=actor("admin"), **said)


def term(name: str, taxonomy: str = "topics") -> Term:
    found, _ = Term.objects.get_or_create(
        taxonomy=taxonomy, slug=name.lower().replace(" ", "-"), defaults={"name": name}
    )
    return found


def redirect(from_path: str, to_path: str, **values: bool | int) -> Redirect:
    return create_redirect(
        actor=actor(), redirect=NewRedirect(from_path=from_path, to_path=to_path, **values)
    )


def brief(name: str = "Site", **values: Any) -> Brief:
    """Create a brief from values in the shape of the API."""
    return create_brief(actor=actor(), brief=NewBrief.model_validate({"name": name, **values}))


def changed_brief(of: Brief, **values: Any) -> Brief:
    changes = BriefChanges.model_validate(values)
    return change_brief(brief_id=of.pk, actor=actor(), changes=changes)


def snippet(name: str = "Newsletter tip", **values: Any) -> Snippet:
    """Create a snippet with a callout, or with the given content."""
    if not values.keys() & {"modules", "text"}:
        values["modules"] = [{"type": "callout", "props": {"title": "Get the newsletter"}}]
    return create_snippet(actor=actor("admin"), snippet=NewSnippet(name=name, **values))


def changed_snippet(of: Snippet, **values: Any) -> Snippet:
    changes = SnippetChanges(**values)
    return change_snippet(snippet_id=of.pk, actor=actor("admin"), changes=changes)


def template(of: Post, name: str = "Recipe", description: str = "") -> PostTemplate:
    """Create a template from the live content of a post."""
    return create_template(actor=actor("admin"), post_id=of.pk, name=name, description=description)


def global_module(slug: str = "newsletter", **props: Json) -> ModuleInstance:
    from proofroom.definitions import validate_props

    return ModuleInstance.objects.create(
        type="callout",
        scope="global",
        global_slug=slug,
        label=slug,
        props=validate_props("callout", {"title": "Subscribe", **props}),
    )


def placed(of: Post, module: ModuleInstance, **overrides: Json) -> str:
    """Append a global module to a live post. Return the module's id in the post."""
    ids: list[str] = []

    def place(document: PostDocument) -> PostDocument:
        shared = (str(module.global_slug), str(module.pk))
        document, id_ = document_edits.add_module(
            document, type=module.type, shared=shared, overrides=overrides
        )
        ids.append(id_)
        return document

    edit_post(post_id=of.pk, actor=actor("admin"), edit=place)
    return ids[0]


def staged(
    of: Post,
    patch: Mapping[str, Json] | None = None,
    *,
    layer: Layer = Layer.AI_REVIEW,
    by: Actor | None = None,
    edit: Callable[[PostDocument], PostDocument] | None = None,
) -> Staged:
    """Stage a patch or an edit: AI Review as the agent, Review as the editor, or as `by`."""
    by = by or (agent_actor() if layer == Layer.AI_REVIEW else actor("editor"))
    return stage(
        post_id=of.pk,
        layer=layer,
        actor=by,
        edit=edit or (lambda document: document_edits.patch_fields(document, patch or {})),
    )


def staged_module(
    of: Post,
    module: str,
    *,
    layer: Layer = Layer.AI_REVIEW,
    by: Actor | None = None,
    **changes: Any,
) -> Staged:
    """Stage a change of props, overrides or the content of a module."""

    def change(document: PostDocument) -> PostDocument:
        return document_edits.update_module(document, module, **changes)

    return staged(of, layer=layer, by=by, edit=change)


def staged_addition(
    of: Post, *, type: str, layer: Layer = Layer.AI_REVIEW, by: Actor | None = None, **values: Any
) -> Staged:
    """Stage a new module."""

    def add(document: PostDocument) -> PostDocument:
        return document_edits.add_module(document, type=type, **values)[0]

    return staged(of, layer=layer, by=by, edit=add)


def edited(of: Post, patch: Mapping[str, Json], *, by: Actor | None = None) -> Post:
    """Change live fields as the editor or as `by`, which creates a revision."""
    return edit_post(
        post_id=of.pk,
        actor=by or actor("editor"),
        edit=lambda document: document_edits.patch_fields(document, patch),
    )


def changed_module(of: Post, module: str, *, by: Actor | None = None, **changes: Any) -> Post:
    """Change props, overrides or the content of a live module as the editor or as `by`."""
    return edit_post(
        post_id=of.pk,
        actor=by or actor("editor"),
        edit=lambda document: document_edits.update_module(document, module, **changes),
    )


def added_module(of: Post, *, type: str, by: Actor | None = None, **values: Any) -> Post:
    """Add a live module as the editor or as `by`."""
    return edit_post(
        post_id=of.pk,
        actor=by or actor("editor"),
        edit=lambda document: document_edits.add_module(document, type=type, **values)[0],
    )


def layers(of: Post) -> Layers:
    return open_layers(Post.objects.get(pk=of.pk))


def module_id(of: Post, type: str) -> str:
    return next(module.id for module in layers(of).live.modules if module.type == type)


def form(slug: str = "contact", *, locale: str = "en", **fields: Json) -> FormDefinition:
    """Create a form with an email and a message field, changed by `fields`."""
    values: dict[str, Json] = {
        "title": "Write to us",
        "fields": [
            {"name": "email", "label": "Email", "type": "email", "required": True},
            {"name": "message", "label": "Message", "type": "textarea"},
        ],
        **fields,
    }
    return create_form(slug=slug, locale=locale, values=values, actor=actor("editor"))


def submission(slug: str = "contact", *, locale: str = "en", **values: Json) -> FormSubmission:
    """Create the submission of a visitor."""
    told = submit_form(
        slug=slug,
        locale=locale,
        values=values,
        actor=Actor(user=Visitor(), via="site"),
        admit=lambda: None,
    )
    return FormSubmission.objects.get(pk=told.id)


def webhook(name: str = "Search", **values: Any) -> Webhook:
    """Create a webhook to an address without a server."""
    values = {"url": "https://search.example/hook", "events": ["post.published"], **values}
    return create_webhook(actor=actor("admin"), webhook=NewWebhook(name=name, **values))


def event(name: str = "post.published", **payload: Json) -> Event:
    """Record a sample event of that kind, about no existing post."""
    told = sample_payload(name, Webhook(events=[name]))
    return outbox.record(name, actor=actor("editor"), payload={**told, **payload})


def delivery(of: Event, to: Webhook, *, status: str = "failed", code: int | None = 500) -> Delivery:
    """Create a delivery with one attempt that was never made."""
    is_over = status not in ("pending", "sending")
    row = Delivery.objects.create(
        lane=channel_of(to),
        webhook=to,
        event=of,
        event_name=of.name,
        status=status,
        attempts=1,
        next_attempt_at=None if is_over else timezone.now(),
        finished_at=timezone.now() if is_over else None,
        last_status_code=code,
        last_error="" if code == 200 else "The answer was 500.",
    )
    row.tries.create(
        number=1,
        at=timezone.now(),
        ms=12,
        status_code=code,
        request_headers={"X-Webhook-Event": of.name},
        response_headers={"server": "receiver"},
        response_body="what came back",
    )
    return row


M = TypeVar("M", bound=models.Model)


def copies(of: M, number: int, **values: Callable[[int], object]) -> list[M]:
    """Insert `number` copies of a row directly, to count queries.

    `values`: a function of the copy's number for each changed column.
    """
    names = [field.attname for field in of._meta.concrete_fields if not field.primary_key]
    made = []
    for place in range(number):
        row = {name: getattr(of, name) for name in names}
        made.append(type(of)(**row | {name: value(place) for name, value in values.items()}))
    return type(of)._default_manager.bulk_create(made)


def live_hash() -> str:
    """Return a hash of all public content: posts (except placeholders), modules and terms."""
    rows: list[object] = [
        list(Post.objects.filter(is_placeholder=False).order_by("pk").values()),
        list(PostModule.objects.order_by("pk").values()),
        list(ModuleInstance.objects.order_by("pk").values()),
        list(PostTerm.objects.order_by("pk").values()),
    ]
    return hashlib.sha256(json.dumps(rows, default=str, sort_keys=True).encode()).hexdigest()
