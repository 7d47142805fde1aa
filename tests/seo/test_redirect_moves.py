"""What the moves of posts do to redirects."""

from __future__ import annotations

import pytest
from django.test import Client

from content.posts.trash import delete_post
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
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
    assert [event.payload for event in moved] == [
        {"id": str(parent.pk), "locale": "en", "from": "/about", "to": "/us"},
        *[
            {"id": pk, "locale": "en", "from": f"/about/{slug}", "to": f"/us/{slug}"}
            for pk, slug in sorted([(str(child.pk), "team"), (str(hidden.pk), "plans")])
        ],
    ]


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


def test_a_post_that_comes_live_takes_its_address_back(client: Client) -> None:
    edit(make.post(slug="one"), slug="two")
    assert client.get("/blog/one").status_code == 301

    make.post("Another", slug="one")

    assert leads() == {}
    assert client.get("/blog/one").status_code == 200


def test_a_redirect_stands_and_falls_with_its_cause() -> None:
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
