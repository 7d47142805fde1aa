"""The admin for people who are limited to a part of the content: what is inside is there, and no word of the rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.accounts.roles import GRANTS, PERMISSIONS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIMITABLE = sorted(PERMISSIONS & GRANTS["admin"] - WHOLE_SITE)


@pytest.fixture
def inside() -> Post:
    """A page below the section, with something that waits."""
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
    # The same list has the other for those without limits, where it is not asked for the one by name.
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

    assert "Canary" in client.get("/admin/content/post/").content.decode()
    editor = client.get(f"/admin/content/post/{outside.pk}/change/").content.decode()
    assert "Canary" in editor
    own = client.get(f"/admin/content/post/{inside.pk}/change/").content.decode()
    for action in ('value="trash"', 'data-action="trash"', ">Move to trash<"):
        assert action not in editor
    assert "Move to trash" in own
    review = client.get(f"/admin/content/post/{outside.pk}/review/?layer=review").content.decode()
    assert "Canary waits" in review
    # What waits for them is what they may decide.
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


def test_the_inbox_takes_as_many_statements_for_many_changes(
    signed_in: SignedIn, inside: Post
) -> None:
    desk(inside)
    client = signed_in("desk")
    client.get("/admin/inbox/")
    counts = []
    for number in range(2):
        with CaptureQueriesContext(connection) as asked:
            client.get("/admin/inbox/")
        counts.append(len(asked))
        for name in "abcd":
            slug = f"{name}{number}"
            post = make.post(slug, type="page", slug=slug, parentId=str(inside.parent_id))
            make.staged(post, {"excerpt": slug}, layer=Layer.REVIEW)
    assert counts[0] == counts[1]
