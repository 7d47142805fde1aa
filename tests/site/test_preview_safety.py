"""Previews reveal no other posts, end with the permission, and send nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Layer, ModuleInstance, Post
from content.posts.create import create_post, propose_post
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from proofroom.accounts.models import User
from proofroom.accounts.services.users import change_user
from proofroom.core.actor import Actor
from proofroom_apps.menus.services import create_menu
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link, open_preview
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def token_for(post: Post, layer: str = "review", by: Actor | None = None) -> str:
    return create_preview_link(post_id=post.pk, layer=layer, actor=by or make.actor("editor"))[1]


def shown(post: Post, layer: str = "review") -> str:
    response = Client().get(f"/preview/{token_for(post, layer)}")
    assert response.status_code == 200
    return response.content.decode()


def framed(post: Post, query: str = "", role: str = "editor", status: int = 200) -> Any:
    response = ApiClient(role).get(f"/admin/content/post/{post.pk}/preview/page/{query}")
    assert response.status_code == status
    return response


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "translator"}], ids=str)
def test_threat_43_a_link_is_closed_with_the_right_of_who_made_it(change: dict[str, Any]) -> None:
    post, maker = make.post(), make.user("editor", "maker")
    token = token_for(post, by=Actor(user=maker, via="api"))
    other = token_for(post, by=make.actor("admin"))
    assert open_preview(token) is not None

    change_user(user_id=maker.pk, actor=make.actor("admin"), **change)

    assert open_preview(token) is None
    assert open_preview(other) is not None
    unknown, closed = (Client().get(f"/preview/{one}") for one in ("x" * 43, token))
    assert (closed.status_code, closed.content) == (404, unknown.content)
    listed = ApiClient("admin").get(f"/admin/content/post/{post.pk}/previews/").content
    assert listed.count(b">its maker may no longer show previews<") == 1


def test_threat_43_and_with_the_account_itself() -> None:
    post = make.post()
    token = token_for(post, "source", by=make.agent_actor())

    User.objects.filter(role="ai_agent").update(is_active=False)
    assert open_preview(token) is None
    User.objects.filter(role="ai_agent").update(is_active=True)
    assert open_preview(token) is not None
    PreviewLink.objects.update(created_by=None)
    assert open_preview(token) is None


def test_threat_16_menus_the_way_to_the_page_and_lists_show_what_is_live() -> None:
    admin = make.actor("admin")
    parent = create_post(actor=admin, type="page", fields={"title": "Secretparent"})
    child = create_post(
        actor=admin, type="page", fields={"title": "Child", "parentId": str(parent.pk)}
    )
    draft = make.post("Secretmenu", slug="secret", status="draft")
    live = make.post("Livemenu", slug="live")
    items = [{"label": "", "type": "post", "postId": str(one.pk)} for one in (draft, live, parent)]
    create_menu(actor=admin, name="Main", slug="main", locale="en", items=items)
    make.staged(child, {"title": "Staged child"}, layer=Layer.REVIEW)

    for page in (shown(child), framed(child).content.decode()):
        assert "Staged child" in page
        assert "Livemenu" in page
        assert "Secret" not in page


def test_threat_03_a_list_in_a_preview_names_no_draft() -> None:
    make.post("Secretdraft", slug="secret", status="draft")
    make.post("Visible entry", slug="visible")
    page = create_post(actor=make.actor("admin"), type="page", fields={"title": "Listing"})
    make.staged_addition(page, type="blog-list", layer=Layer.REVIEW)

    for html in (shown(page), framed(page).content.decode()):
        assert "Visible entry" in html
        assert "Secretdraft" not in html


def test_a_preview_shows_a_form_and_sends_nothing() -> None:
    make.form("contact")
    page = create_post(actor=make.actor("admin"), type="page", fields={"title": "Write"})
    make.staged_addition(page, type="form", props={"form": "contact"}, layer=Layer.REVIEW)

    for response in (Client().get(f"/preview/{token_for(page)}"), framed(page)):
        policy = response["Content-Security-Policy"]
        assert "form-action 'none'" in policy
        assert "script-src 'none'" in policy
        html = response.content.decode()
        assert 'name="email"' in html
        assert '<script type="module"' not in html


@pytest.mark.parametrize("of", ["draft", "placeholder", "variation", "archived"])
def test_whatever_a_post_is_its_preview_shows_it(of: str) -> None:
    if of == "placeholder":
        by = make.agent_actor()
        post = propose_post(actor=by, type="blog", fields={"title": "Words of it"}).post
    else:
        post = make.post("Words of it", status="draft" if of == "draft" else "published")
    if of == "variation":
        post = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    elif of == "archived":
        set_status(post_id=post.pk, status="archived", actor=make.actor())
    layer = "ai-review" if of == "placeholder" else "source"

    assert "Words of it" in shown(post, layer)
    assert b"Words of it" in framed(post, f"?layer={layer}").content
    assert framed(post, f"?layer={layer}")["X-Robots-Tag"] == "noindex, nofollow"


def test_locked_modules_are_shown_with_what_is_staged_for_them() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    make.staged_module(post, hero, props={"subtitle": "Stagedsub"}, layer=Layer.REVIEW)

    page = framed(post, "?layer=review").content.decode()

    assert "Stagedsub" in page
    assert f'data-post-module-id="{hero}" data-change="changed"' in page
    assert "Stagedsub" not in framed(post, "?layer=source").content.decode()
    assert "data-change" not in framed(post, "?layer=source").content.decode()


def test_threat_39_the_frame_is_uncached_and_framed_by_this_site_only() -> None:
    post = make.post()

    response, around = (
        framed(post),
        ApiClient("editor").get(f"/admin/content/post/{post.pk}/preview/"),
    )

    assert "no-store" in response["Cache-Control"]
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in response["Content-Security-Policy"]
    for other in (around, Client().get(post.path), Client().get(f"/preview/{token_for(post)}")):
        assert other["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in other["Content-Security-Policy"]


def test_threat_03_only_users_who_may_see_the_post_see_its_preview() -> None:
    post, gone = make.post(), make.post("Gone", slug="gone")
    make.staged(post, {"title": "Stagedtitle"})
    delete_post(post_id=gone.pk, actor=make.actor())

    for page in ("preview/", "preview/page/"):
        address = f"/admin/content/post/{post.pk}/{page}?layer=ai-review"
        assert Client().get(address).status_code == 302
        assert ApiClient("translator").get(address).status_code == 200
        missing = ApiClient("admin").get(address.replace(str(post.pk), str(gone.pk)))
        assert missing.status_code == 404
        assert ApiClient("editor").send("POST", address).status_code in (200, 403, 405)
    assert b"Stagedtitle" in framed(post, "?layer=ai-review", role="translator").content
    assert make.layers(post).ai_review.version == 1


def test_threat_32_nothing_of_the_address_is_shown() -> None:
    post = make.post()

    for name in ("layer", "show", "width", "next"):
        query = f"?{name}=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
        page = ApiClient("editor").get(f"/admin/content/post/{post.pk}/preview/{query}")
        assert b"alert(1)" not in page.content
        assert b"alert(1)" not in framed(post, query).content


def test_threat_27_texts_that_look_like_modules_are_no_modules() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    fake = f'<div class="module module-x" id="module-{hero}" data-post-module-id="{hero}"></head>'
    make.staged_module(post, hero, props={"title": fake, "subtitle": fake}, layer=Layer.REVIEW)

    page = framed(post).content.decode()

    assert len(re.findall(r' data-change="', page)) == 1
    assert page.count("cms/previews/preview.css") == 1
    assert fake not in page


def test_changes_only_shows_them_only() -> None:
    post = make.post()
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, content_markdown="Other words.", layer=Layer.REVIEW)
    make.staged(post, {"title": "A title alone"})

    changed = framed(post, "?layer=review&show=changes").content.decode()
    titled = framed(post, "?layer=ai-review&show=changes").content.decode()

    assert re.findall(r'data-post-module-id="([^"]+)"', changed) == [prose]
    assert "Other words." in changed
    assert "No module changed." in titled
    assert "data-post-module-id" not in titled


def test_a_preview_reads_and_writes_nothing_but_its_count() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"}, layer=Layer.REVIEW)
    token = token_for(post)
    before = make.live_hash(), ModuleInstance.objects.count(), make.layers(post).review.version

    Client().get(f"/preview/{token}")
    framed(post)

    assert before == (
        make.live_hash(),
        ModuleInstance.objects.count(),
        make.layers(post).review.version,
    )
    assert PreviewLink.objects.get().views == 1


def test_an_ended_link_says_so_in_the_list() -> None:
    post = make.post()
    token_for(post)
    PreviewLink.objects.update(expires_at=timezone.now())

    page = ApiClient("editor").get(f"/admin/content/post/{post.pk}/previews/").content

    assert b">ended</span>" in page


def test_a_made_link_can_be_selected_and_copied() -> None:
    post = make.post()
    form = {"do": "create", "layer": "review", "expiresInHours": "1"}
    client = Client()
    client.force_login(make.user("editor"))

    page = client.post(f"/admin/content/post/{post.pk}/previews/", form).content.decode()

    (url,) = re.findall(r'value="http://127.0.0.1:8000(/preview/[^"]+)" size="60" readonly', page)
    assert Client().get(url).status_code == 200
    assert "cms/clipboard/clipboard.js" in page
