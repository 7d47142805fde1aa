"""The admin for users with a content scope: posts inside are shown, nothing of others."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from agents_app.runs.creation import create_run
from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.menus.models import Menu
from tests import make
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture
def inside() -> Post:
    """Create a page in the section, with a pending change."""
    section = make.post("Handbook", type="page", slug="handbook")
    post = make.post("Insidepage", type="page", slug="insidepage", parentId=str(section.pk))
    make.staged(post, {"excerpt": "Waits"}, layer=Layer.REVIEW)
    return Post.objects.get(pk=post.pk)


@pytest.fixture
def outside() -> Post:
    post = make.post("Canary", type="page", slug="canary")
    make.staged(post, {"excerpt": "Canary waits"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "Canary two"})
    return post


def desk(inside: Post, *, reads_all: bool = False) -> None:
    assert inside.parent_id is not None
    scope = ContentScope(sections=frozenset({inside.parent_id}), reads_all=reads_all)
    make.site_role("desk", *LIMITABLE, scope=scope)


LISTS = [
    "/admin/",
    "/admin/content/post/",
    "/admin/content/post/?q=insidepage",
    "/admin/content/post/tree/",
    "/admin/content/post/tree/?q=page",
    "/admin/inbox/",
    "/admin/content/translations/",
    "/admin/palette/?q=insidepage",
    "/admin/content/post/targets/?kind=post-reference&q=page",
]


@pytest.mark.parametrize("path", LISTS)
def test_lists_show_what_is_inside_alone(
    signed_in: SignedIn, inside: Post, outside: Post, path: str
) -> None:
    desk(inside)

    shown = signed_in("desk").get(path).content.decode()

    assert "Insidepage" in shown
    assert "Canary" not in shown
    assert "canary" not in shown
    # Users without limits see the other one in the same list, unless it is searched by name.
    everything = signed_in("editor").get(path.replace("insidepage", "canary")).content.decode()
    assert "anary" in everything or "q=page" in path


def test_the_trash_shows_what_is_inside_alone(
    signed_in: SignedIn, inside: Post, outside: Post
) -> None:
    desk(inside)
    for post in (inside, outside):
        delete_post(post_id=post.pk, actor=make.actor("admin"))

    shown = signed_in("desk").get("/admin/content/post/trash/").content.decode()

    assert "Insidepage" in shown
    assert "Canary" not in shown


def test_pages_of_a_post_outside_are_not_there(
    signed_in: SignedIn, inside: Post, outside: Post
) -> None:
    desk(inside)
    client = signed_in("desk")

    for page in ("change", "review", "revisions", "preview", "translations", "variations"):
        assert client.get(f"/admin/content/post/{inside.pk}/{page}/").status_code == 200, page
        assert client.get(f"/admin/content/post/{outside.pk}/{page}/").status_code == 404, page


def test_what_may_only_be_read_has_no_buttons(
    signed_in: SignedIn, inside: Post, outside: Post
) -> None:
    desk(inside, reads_all=True)
    client = signed_in("desk")

    listed = client.get("/admin/content/post/").content.decode()
    assert "Canary" in listed
    assert f"/{inside.pk}/delete/" in listed
    assert f"/{outside.pk}/delete/" not in listed
    assert f"tree/copy/?page={outside.pk}" not in listed
    editor = client.get(f"/admin/content/post/{outside.pk}/change/").content.decode()
    assert "Canary" in editor
    own = client.get(f"/admin/content/post/{inside.pk}/change/").content.decode()
    for action in ('value="trash"', 'data-action="trash"', ">Move to trash<"):
        assert action not in editor
    assert "Move to trash" in own
    assert "You can view this post. Your role is limited to other content." in editor
    for page, is_read_only in ((editor, True), (own, False)):
        fields = re.findall(r'(?s)<(?:input|textarea)[^>]*name="post.title"', page)
        assert len(fields) == 1
        assert ('<fieldset class="read-only" disabled>' in page) == is_read_only
        assert ("field-ai" in page) != is_read_only


def test_a_change_of_a_post_that_may_only_be_read_is_not_edited(
    signed_in: SignedIn, inside: Post, outside: Post
) -> None:
    desk(inside, reads_all=True)
    client = signed_in("desk")
    query = "?layer=review&path=post.excerpt"

    assert client.get(f"/admin/content/post/{inside.pk}/review/edit/{query}").status_code == 200
    assert client.get(f"/admin/content/post/{outside.pk}/review/edit/{query}").status_code == 403
    review = client.get(f"/admin/content/post/{outside.pk}/review/?layer=review").content.decode()
    assert "Canary waits" in review
    # Only pending work they may decide on.
    inbox = client.get("/admin/inbox/").content.decode()
    assert "Insidepage" in inbox
    assert "Canary" not in inbox


def test_a_reference_to_what_is_hidden_is_named_as_such(
    signed_in: SignedIn, inside: Post, outside: Post
) -> None:
    make.staged(inside, {"parentId": str(outside.pk)}, layer=Layer.REVIEW)
    desk(inside)

    shown = signed_in("desk").get(f"/admin/content/post/{inside.pk}/review/?layer=review")

    assert "A post that you cannot see" in shown.content.decode()
    assert "Canary" not in shown.content.decode()


@pytest.mark.parametrize("status", ["draft", "published"])
def test_a_menu_says_nothing_of_a_post_that_is_hidden(
    signed_in: SignedIn, inside: Post, status: str
) -> None:
    hidden = make.post("Canary", type="page", slug="canary-merger", status=status)
    item = {"id": "1", "label": "", "type": "post", "postId": str(hidden.pk), "children": []}
    menu = Menu.objects.create(slug="main", locale="en", name="Main", items=[item])
    address = f"/admin/proofroom_menus/menu/{menu.pk}/change/"
    desk(inside)

    shown = signed_in("desk").get(address).content.decode()
    item_of_desk = shown[shown.index("data-name") : shown.index("tree-edit")]
    whole = signed_in("editor").get(address).content.decode()

    assert "A post that you cannot see" in item_of_desk
    assert "canary-merger" not in item_of_desk
    assert "badge" not in item_of_desk
    assert "/canary-merger" in whole
    assert ("not published" in whole) == (status == "draft")


COUNTED = [
    "/admin/",
    "/admin/content/post/",
    "/admin/content/post/?q=insidepage",
    "/admin/content/post/tree/?q=insidepage",
    "/admin/content/post/targets/?kind=post-reference&q=insidepage",
    "/admin/content/post/trash/",
    "/admin/content/translations/",
    "/admin/inbox/",
    "/admin/palette/?q=insidepage",
    "/admin/media/asset/",
    "/admin/media/asset/pick/",
    "/admin/media/asset/alt-texts/",
    "/admin/agents_app/agentrun/",
    "/admin/agents_app/agentbatch/",
    "/admin/analytics/sitecount/",
    "/admin/proofroom_feedback/feedback/",
    "/admin/proofroom_taxonomies/term/",
    "/admin/proofroom_menus/menu/",
    "/admin/content/moduleinstance/",
    "/admin/notifications/",
]


@pytest.mark.parametrize("path", COUNTED)
def test_pages_take_as_many_statements_however_much_is_inside(
    signed_in: SignedIn, inside: Post, path: str
) -> None:
    desk(inside)
    client = signed_in("desk")
    counts = []
    for number in range(3):
        for name in "abcd":
            fill_section(inside, f"{name}{number}")
        client.get(path)  # everything that stays between requests is stored now
        counts.append(page_queries(client, path))
    assert counts[1] == counts[2]


def fill_section(inside: Post, slug: str) -> None:
    """Create a page in the section with everything shown of one: changes, a picture, a run, a term, visits."""
    picture = make.image(f"{slug}.png")
    values = {"parentId": str(inside.parent_id), "featuredMediaId": str(picture.pk)}
    post = make.post(f"Insidepage {slug}", type="page", slug=slug, **values)
    make.staged(post, {"excerpt": slug}, layer=Layer.REVIEW)
    make.staged(post, {"metaTitle": slug})
    make.term(f"Topic {slug}")
    create_run(
        agent_id="seo-specialist",
        scope="dropdown",
        actor=make.actor("editor", via="admin"),
        post_id=post.pk,
    )
    create_feedback(post_id=str(post.pk), content=f"About {slug}", actor=make.actor("editor"))


def test_offers_depend_on_the_role(signed_in: SignedIn) -> None:
    coffee = make.term("Coffee")
    post = make.post("Filter coffee", taxonomyTermIds=[str(coffee.pk)])
    make.post("Filterkaffee", locale="de", translation_of=post, taxonomyTermIds=[str(coffee.pk)])
    scope = ContentScope(
        types=frozenset({"blog"}), locales=frozenset({"en"}), terms=frozenset({coffee.pk})
    )
    make.site_role("desk", *LIMITABLE, scope=scope)
    client = signed_in("desk")

    matrix = client.get("/admin/content/translations/").content.decode()
    tree = client.get("/admin/content/post/tree/").content.decode()
    account = client.get("/admin/account/").content.decode()
    inbox = client.get("/admin/inbox/").content.decode()

    assert "Posts and languages of your role" in matrix
    assert '<option value="page"' not in matrix
    assert '<option value="de"' not in matrix
    assert ">missing<" not in matrix
    assert "Your role includes no pages in this language." in tree
    assert "New page" not in tree
    assert "locale=de" not in tree
    for line in ("Post types: Blog post", "Languages: English", "Terms: Topics: Coffee"):
        assert line in account
    assert "in the content of your role" in inbox
    # Users without limits see no notice.
    assert "limited to part" not in signed_in("editor").get("/admin/account/").content.decode()


def test_what_may_only_be_read_is_offered_for_no_translation(signed_in: SignedIn) -> None:
    make.post("Filter coffee")
    scope = ContentScope(locales=frozenset({"en"}), reads_all=True)
    make.site_role("desk", *LIMITABLE, scope=scope)

    matrix = signed_in("desk").get("/admin/content/translations/").content.decode()
    everybody = signed_in("editor").get("/admin/content/translations/").content.decode()

    assert '<option value="de"' in matrix
    assert 'name="make"' not in matrix
    assert "Create selected drafts" not in matrix
    assert 'name="make"' in everybody
