"""Effects of moved posts on redirects."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Post
from content.posts.publish import set_status
from content.posts.trash import delete_post, restore_post
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.api_client import ApiClient
from tests.seo.leading import edit, leads, page

pytestmark = pytest.mark.django_db


def test_a_new_slug_leads_from_the_old_one_for_descendants_too(client: Client) -> None:
    parent = page("About", "about")
    child = page("Team", "team", parentId=str(parent.pk))
    hidden = page("Plans", "plans", status="draft", parentId=str(parent.pk))

    edit(parent, slug="us")

    assert leads() == {"/about": "/us", "/about/team": "/us/team"}
    assert set(Redirect.objects.values_list("is_automatic", "type")) == {(True, 301)}
    assert client.get("/about/team")["Location"] == "/us/team"
    moved = Event.objects.filter(name="post.moved").order_by("id")
    below = sorted([(str(child.pk), "team"), (str(hidden.pk), "plans")])
    assert [
        (event.payload["id"], event.payload["from"], event.payload["to"], event.payload["isLive"])
        for event in moved
    ] == [
        (str(parent.pk), "/about", "/us", True),
        *[(pk, f"/about/{slug}", f"/us/{slug}", slug == "team") for pk, slug in below],
    ]
    assert len({event.payload["batch"] for event in moved}) == 1


def test_moving_back_and_forth_leaves_no_loop_and_no_chain(client: Client) -> None:
    post = make.post(slug="one")

    edit(post, slug="two")
    edit(post, slug="three")
    assert leads() == {"/blog/one": "/blog/three", "/blog/two": "/blog/three"}

    edit(post, slug="one")
    assert leads() == {"/blog/two": "/blog/one", "/blog/three": "/blog/one"}
    assert client.get("/blog/one").status_code == 200


def test_a_draft_that_nobody_saw_leaves_no_redirect() -> None:
    post = make.post(slug="one", status="draft")

    edit(post, slug="two")

    assert leads() == {}


def trashed(post: Post) -> None:
    delete_post(post_id=post.pk, actor=make.actor("admin"))


def with_status(status: str) -> Callable[[Post], object]:
    return lambda post: set_status(post_id=post.pk, status=status, actor=make.actor("admin"))


LEAVING: dict[str, Callable[[Post], object]] = {
    "trash": trashed,
    "archive": with_status("archived"),
    "unpublish": with_status("draft"),
}


@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_an_old_redirect_counts_again_once_a_post_leaves_its_address(
    client: Client, leave: Callable[[Post], object]
) -> None:
    edit(make.post(slug="one"), slug="two")
    borrower = make.post("Another", slug="one")
    assert client.get("/blog/one").status_code == 200

    leave(borrower)

    answer = client.get("/blog/one")
    assert (answer.status_code, answer["Location"]) == (301, "/blog/two")
    resolved = client.get("/api/public/resolve", {"path": "/blog/one"}).json()
    assert resolved["redirect"] == {"toPath": "/blog/two", "status": 301}


def test_a_restored_post_answers_before_a_redirect_that_was_made_meanwhile(client: Client) -> None:
    post = make.post(slug="one")
    trashed(post)
    make.redirect("/blog/one", "/blog/elsewhere")

    restore_post(post_id=post.pk, actor=make.actor("admin"))

    assert client.get("/blog/one").status_code == 200
    trashed(post)
    assert client.get("/blog/one")["Location"] == "/blog/elsewhere"


def test_a_post_that_leaves_a_borrowed_address_by_moving_leads_to_itself(client: Client) -> None:
    edit(make.post(slug="one"), slug="two")
    borrower = make.post("Another", slug="one")

    edit(borrower, slug="three")

    assert leads() == {"/blog/one": "/blog/three"}


def test_a_draft_at_an_old_address_takes_nothing_from_its_redirect(client: Client) -> None:
    edit(make.post(slug="one"), slug="two")
    draft = make.post("Another", slug="one", status="draft")

    edit(draft, slug="three")

    assert client.get("/blog/one")["Location"] == "/blog/two"


def test_a_redirect_behind_a_post_is_in_no_chain_and_follows_its_target(client: Client) -> None:
    first = make.post(slug="one")
    edit(first, slug="two")
    borrower = make.post("Another", slug="one")

    make.redirect("/old", "/blog/one")
    edit(first, slug="three")

    assert client.get("/old")["Location"] == "/blog/one"
    trashed(borrower)
    assert leads() == {
        "/old": "/blog/three",
        "/blog/one": "/blog/three",
        "/blog/two": "/blog/three",
    }


def test_a_redirect_that_would_close_a_loop_when_it_counts_again_goes(client: Client) -> None:
    first = make.post(slug="one")
    edit(first, slug="two")
    borrower = make.post("Another", slug="one")
    trashed(first)
    make.redirect("/blog/two", "/blog/one")

    trashed(borrower)

    assert leads() == {"/blog/two": "/blog/one"}
    assert client.get("/blog/two", follow=True).status_code == 404


def test_a_redirect_behind_a_post_is_put_back_as_it_was_read_and_imported_again() -> None:
    edit(make.post(slug="one"), slug="two")
    make.post("Another", slug="one")
    editor = ApiClient("editor")
    [row] = editor.read("/api/redirects")["data"]

    editor.write("PUT", f"/api/redirects/{row['id']}", row)
    body = {"csv": "fromPath,toPath\n/blog/one,/blog/two\n/old,/blog/one\n"}
    outcome = editor.write("POST", "/api/redirects/import", body)

    assert (outcome["created"], outcome["changed"], outcome["unchanged"]) == (1, 0, 1)
    assert leads() == {"/blog/one": "/blog/two", "/old": "/blog/one"}


def test_a_redirect_is_deleted_with_its_cause() -> None:
    post = make.post(slug="one")
    make.post("Other", slug="taken")

    with pytest.raises(RuleViolation):
        edit(post, slug="taken")

    assert leads() == {}
    assert Event.objects.filter(name="post.moved").count() == 0


def test_threat_16_a_redirect_to_what_is_not_published_shows_nothing_of_it(client: Client) -> None:
    post = make.post("A secret title", slug="one")
    edit(post, slug="two")
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    response = client.get("/blog/one", follow=True)

    assert response.status_code == 404
    assert b"A secret title" not in response.content
