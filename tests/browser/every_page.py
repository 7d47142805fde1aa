"""One object of every kind, and the admin URLs about them."""

from __future__ import annotations

import re
from typing import Any, Final

from django.apps import apps
from django.test import Client

from agents_app.models import AgentBatch, AgentRun, PromptVersion
from content.layers import reject
from content.models import Layer, ModuleInstance, Post, Replacement, UrlPattern
from content.modules.module_groups import create_group
from content.posts.trash import delete_post
from mcp_bridge.access import tokens as mcp_tokens
from proofroom.accounts.services.tokens import create_token
from proofroom.briefs.models import Brief
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.proposals import propose_change
from proofroom.shared_content.shared_types import MENU, find_kind
from proofroom.webhooks.models import Delivery, Webhook
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu, menu_document
from proofroom_apps.previews.services import create_preview_link
from proofroom_apps.privacy.services.requests import start_request
from tests import make
from tests.browser import agents_scene
from tests.browser.scene import coffee
from tests.contract.test_admin_walk import ADDRESSES

_NO_PAGES: Final = re.compile(r"(login|logout|jsi18n|autocomplete|r|help/images|analytics/frame)/")
_OF_ONE: Final = re.compile(r"(\w+)/(\w+)/<(?:object_id)>/")


def everything() -> Post:
    """Fill a site with an object of every kind. Return the post for the pages of posts."""
    admin = make.actor("admin")
    post = coffee()
    make.staged(post, {"title": "Staged by a person"}, layer=Layer.REVIEW)
    agents_scene.evaluation(agents_scene.story(post))
    agents_scene.batch(post)
    decided = make.post("Water and minerals")
    make.staged(decided, {"excerpt": "Hard water makes coffee flat."})
    note = "We say mineral-rich, not hard."
    reject(post_id=decided.pk, layer=Layer.AI_REVIEW, actor=admin, note=note)
    make.post("Repairs", type="page", parentId=str(make.post("Services", type="page").pk))
    make.image()
    make.form()
    make.submission(email="a@example.com", message="When do you open?")
    make.redirect("/old", post.path)
    make.placed(post, make.global_module())
    make.delivery(make.event(), make.webhook(events=["form.submitted"]))
    delete_post(post_id=make.post("Gone", slug="gone").pk, actor=admin)
    create_feedback(post_id=str(post.pk), content="Too long?", actor=admin, x=20.0, y=120.0)
    create_preview_link(post_id=post.pk, layer="review", actor=make.actor("editor"))
    create_token(name="Frontend", permissions=["posts.view"], actor=admin)
    mcp_tokens.create_token(name="Desk", user_id=admin.user.pk, actor=admin)
    below: Json = {"id": "2", "label": "Tea", "type": "custom", "url": "/tea", "children": []}
    top: Json = {"id": "1", "label": "More", "type": "custom", "url": "/", "children": [below]}
    menu = create_menu(actor=admin, name="Main", slug="main", locale="en", items=[top])
    change_menu(menu_id=menu.pk, actor=admin, name="Top")
    propose_change(
        kind=find_kind(MENU),
        row_id=menu.pk,
        document={**menu_document(menu), "items": []},
        actor=admin,
        expected_version=None,
        expected_proposal=None,
    )
    brief = make.brief("Site", voice="Warm.", terms=[{"term": "grinder"}], never=["the best"])
    make.changed_brief(brief, voice="Calm.")
    hero: dict[str, Json] = {"type": "hero", "locked": True}
    create_group(actor=admin, name="shop", label="Shop", post_type="page", modules=[hero])
    UrlPattern.objects.create(type="blog", locale="en", pattern="/blog/{slug}")
    start_request(email="a@example.com", action="search", actor=admin)
    Replacement.objects.create(find="tea", replace="coffee", total=2, by_name="admin")
    return post


def paths(post: Post) -> list[str]:
    """Return all admin URLs that are pages, with ids of existing objects."""
    named = {
        "post_id": post.pk,
        "revision_id": post.revisions.latest("version").pk,
        "run_id": AgentRun.objects.filter(cause_run__isnull=False).first(),
        "batch_id": AgentBatch.objects.first(),
        "event_id": Event.objects.first(),
        "delivery_id": Delivery.objects.first(),
        "webhook_id": Webhook.objects.first(),
        "agent_id": "seo-specialist",
        "digest": PromptVersion.objects.first(),
        "workflow_id": "review-waiting",
        "page": "editors",
        "brief_id": Brief.objects.get(),
        "version": 1,
    }
    menu = Menu.objects.get()
    first = SharedRevision.objects.filter(row_id=menu.pk).last()
    newest = SharedRevision.objects.filter(row_id=menu.pk).first()
    assert first is not None
    assert newest is not None
    shared = f"/admin/content/shared/{MENU}/{menu.pk}/"
    values = {name: str(getattr(value, "pk", value)) for name, value in named.items()}
    asked = [
        f"/admin/agents_app/field/?post={post.pk}&field=post.title",
        f"/admin/agents_app/ask/?post={post.pk}",
        f"/admin/content/post/{post.pk}/review/?layer=review",
        f"/admin/content/post/{post.pk}/change/?layer=review",
        f"{shared}history/",
        f"{shared}pages/",
        f"{shared}review/",
        f"{shared}compare/?from={first.pk}&to={newest.pk}",
        f"{shared}restore/{first.pk}/",
        f"/admin/proofroom_briefs/brief/{Brief.objects.get().pk}/compare/?from=1&to=2",
        "/admin/quality/?agent=seo-specialist",
        "/admin/agents_app/agentswitch/rehearsal/"
        f"?post={post.pk}&start=event:post.create-translation",
    ]
    return asked + [
        "/admin/" + re.sub(r"<(\w+)>", lambda found: values.get(found[1], found[1]), _own(address))
        for address in ADDRESSES
        if not _NO_PAGES.match(address)
    ]


def _own(address: str) -> str:
    """Fill in the id of the first object of the model, if the URL needs one."""
    found = _OF_ONE.match(address)
    if found is None:
        return address
    things: Any = apps.get_model(found[1], found[2])._default_manager
    # Modules of one post are rows, too, but have no page.
    first = (
        things.filter(scope="global").first() if things.model is ModuleInstance else things.first()
    )
    return address.replace("<object_id>", str(getattr(first, "pk", "1")))


def pages(found: list[str]) -> list[str]:
    """Return the URLs that answer an admin with a distinct page."""
    client = Client()
    client.force_login(make.user("admin"))
    own = []
    for path in found:
        answer = client.get(path)
        # Fragments fetched by scripts have no frame, and so no stylesheet.
        is_html = answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
        if is_html and answer.content.lstrip().startswith(b"<!DOCTYPE html"):
            own.append(path)
    return own
