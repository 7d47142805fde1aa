"""Posts and files hidden from a user cannot be newly referenced; they answer like missing ones."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest

from agents_app.admin.agents.definition_labels import begin_of_month
from agents_app.runs.creation import create_run
from agents_app.runs.queries import acceptance_rates
from content.layers import approve, stage
from content.layers.submit import submit
from content.models import Layer, Post
from content.posts.edit import edit_post
from content.store import document_edits
from content.store.digest import digest_of
from media.models import Asset
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.accounts.services.roles import change_role
from proofroom.core.actor import Actor
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import RuleViolation
from proofroom_apps.menus.services import change_menu, create_menu
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)
PAGES = ContentScope(types=frozenset({"page"}))


@pytest.fixture
def desk() -> Actor:
    make.site_role("desk", *LIMITABLE, scope=PAGES)
    return make.actor("desk", via="admin")


@pytest.fixture
def inside() -> Post:
    return make.post("Inside", type="page", slug="inside")


@pytest.fixture
def hidden() -> Post:
    """Create a blog post with its own picture."""
    picture = make.image("hidden.png")
    return make.post("Hidden", slug="hidden", featuredMediaId=str(picture.pk))


def write(post: Post, actor: Actor, **fields: str) -> None:
    edit_post(post_id=post.pk, actor=actor, edit=lambda document: document.with_fields(fields))


def refusal(call: Any) -> str:
    with pytest.raises(RuleViolation) as refused:
        call()
    return refused.value.message


def test_a_hidden_file_is_named_no_more_than_one_that_is_not_there(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    picture, nowhere = str(hidden.featured_media_id), str(uuid4())

    def place(id_: str) -> None:
        write(inside, desk, featuredMediaId=id_)

    assert refusal(lambda: place(picture)).replace(picture, nowhere) == refusal(
        lambda: place(nowhere)
    )
    shared = make.image("shared.png")
    place(str(shared.pk))


def test_nor_is_a_hidden_post_or_the_address_of_a_hidden_file(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    address = Asset.objects.get(pk=str(hidden.featured_media_id)).file.url

    def stage_prose(markdown: str) -> None:
        prose = make.module_id(inside, "prose")
        stage(
            post_id=inside.pk,
            layer=Layer.REVIEW,
            actor=desk,
            edit=lambda document: document_edits.update_module(
                document, prose, content_markdown=markdown
            ),
        )

    assert "media file" in refusal(lambda: stage_prose(f"![Alt]({address})"))
    write(inside, make.actor("admin"), featuredMediaId=str(hidden.featured_media_id))
    # Now a post inside uses it, too.
    stage_prose(f"![Alt]({address})")


def test_what_others_named_is_kept_and_handed_on(desk: Actor, inside: Post, hidden: Post) -> None:
    picture = str(hidden.featured_media_id)
    make.staged(inside, {"featuredMediaId": picture})
    submit(post_id=inside.pk, actor=desk)
    digest = digest_of(make.layers(inside).review.changes)

    approve(post_id=inside.pk, actor=desk, digest=digest)

    inside.refresh_from_db()
    assert str(inside.featured_media_id) == picture
    write(inside, desk, excerpt="Still there")


def test_a_menu_names_no_hidden_post(desk: Actor, inside: Post, hidden: Post) -> None:
    def item(post: Post) -> dict[str, str]:
        return {"type": "post", "postId": str(post.pk), "label": post.title}

    menu = create_menu(
        actor=make.actor("admin"), name="Top", slug="top", locale="en", items=[item(hidden)]
    )

    with pytest.raises(RuleViolation):
        create_menu(actor=desk, name="Foot", slug="foot", locale="en", items=[item(hidden)])
    # Existing references stay.
    change_menu(menu_id=menu.pk, actor=desk, items=[item(hidden), item(inside)])
    change_menu(menu_id=menu.pk, actor=desk, items=[item(inside)])
    with pytest.raises(RuleViolation):
        change_menu(menu_id=menu.pk, actor=desk, items=[item(inside), item(hidden)])


def test_the_editor_finds_no_hidden_post_by_its_path(
    desk: Actor, inside: Post, hidden: Post
) -> None:
    def typed(path: str) -> str:
        body = {"parentId~other": path, "was": "{}"}
        client = ApiClient("desk")
        answer = client.post(
            f"/admin/content/post/{inside.pk}/live-preview/", {**body, **client._headers()}
        )
        return answer.content.decode().replace(path, "")

    assert str(hidden.pk) not in typed(hidden.path)


def test_terms_and_agents_count_what_is_seen() -> None:
    term = make.term("Coffee")
    posts = [
        make.post(slug, locale=locale, slug=slug, taxonomyTermIds=[str(term.pk)])
        for slug, locale in (("one", "en"), ("two", "de"), ("three", "de"))
    ]
    make.site_role("english", *LIMITABLE, scope=ContentScope(locales=frozenset({"en"})))
    agent = "seo-specialist"
    for post in posts:
        create_run(agent_id=agent, scope="dropdown", actor=make.actor("editor"), post_id=post.pk)

    def uses(role: str) -> str:
        page = ApiClient(role).get("/admin/proofroom_taxonomies/term/?q=Coffee")
        found = re.search(r'class="field-uses">(\d+)<', page.content.decode())
        return found[1] if found else page.content.decode()

    assert (uses("admin"), uses("english")) == ("3", "1")
    rates = [acceptance_rates(begin_of_month(), make.actor(role)) for role in ("admin", "english")]
    assert [rate[agent].runs for rate in rates] == [3, 1]


def test_a_role_keeps_a_limit_to_what_is_gone_when_the_rest_changes(inside: Post) -> None:
    scope = ContentScope(sections=frozenset({inside.pk}))
    make.site_role("hall", "posts.view", scope=scope)
    Post.objects.filter(pk=inside.pk).delete()

    changed = ApiClient("admin").write("PATCH", "/api/roles/hall", {"description": "Theirs"})

    assert changed["scope"]["sections"] == [str(inside.pk)]
    with pytest.raises(RuleViolation):
        change_role(
            name="hall",
            label="Hall",
            permissions=["posts.view"],
            scope=scope,
            actor=make.actor("admin"),
        )
