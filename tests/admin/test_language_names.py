"""Lists of the admin: languages by name, allowed lookups, titles and dates."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer, Post
from content.posts.trash import delete_post
from content.tools.create_post import CreatePost, create_post_ai_review
from tests import make
from tests.admin.pages import review, url

pytestmark = pytest.mark.django_db

SignedIn = Callable[..., Client]


def test_no_page_says_the_code_of_a_language(signed_in: SignedIn) -> None:
    post = make.post("Filterkaffee", locale="de", slug="filterkaffee")
    make.staged(post, {"title": "Filterkaffee von Hand"}, layer=Layer.REVIEW)
    client = signed_in("admin")
    replace = "/admin/content/replacement/add/"
    sent = {"find": "Filterkaffee", "replace": "Kaffee", "tables": "posts", "case_sensitive": "on"}

    for shown in (
        client.get("/admin/"),
        client.get("/admin/inbox/"),
        client.get("/admin/inbox/all/?layer=review"),
        client.get("/admin/palette/?q=Filterkaffee"),
        client.get("/admin/content/post/targets/?kind=post-reference&q=Filterkaffee"),
        client.post(replace, sent),
    ):
        page = shown.content.decode()
        path = shown.wsgi_request.path
        assert "Filterkaffee" in page, path
        assert re.search(r"(·|\\u00b7) German\b", page), path
        assert not re.search(r"(·|\\u00b7) de\b", page), path


def test_menus_and_forms_are_named_with_their_language() -> None:
    assert str(make.form(title="Schreiben Sie uns", locale="de")) == "Schreiben Sie uns (German)"


PEOPLE = "/admin/proofroom_accounts/user/"

POSTS = "/admin/content/post/"


def answer(url: str) -> int:
    admin = Client()
    admin.force_login(make.user("admin"))
    return admin.get(url).status_code


@pytest.mark.parametrize(
    "url",
    [
        f"{PEOPLE}?password__gt=pbkdf2",
        f"{POSTS}?author__password__gt=pbkdf2",
        f"{POSTS}?title__regex=(",
        f"{POSTS}?created_at__year=99999999999",
    ],
)
def test_what_no_filter_of_the_list_asks_is_refused(url: str) -> None:
    make.post()
    assert answer(url) == 400


@pytest.mark.parametrize(
    "url", [f"{PEOPLE}?role=editor", f"{PEOPLE}?is_active__exact=1", f"{POSTS}?status=draft"]
)
def test_filters_of_the_list_hold(url: str) -> None:
    assert answer(url) == 200


def proposed() -> Post:
    values = {"type": "blog", "locale": "en", "title": "A proposed title"}
    create_post_ai_review(make.mcp_actor(), CreatePost.model_validate(values))
    return Post.objects.get(is_placeholder=True)


@pytest.mark.parametrize("address", ["/admin/", "/admin/inbox/", "/admin/content/post/"])
def test_a_post_that_is_only_proposed_goes_by_its_proposed_title(
    signed_in: SignedIn, address: str
) -> None:
    post = proposed()
    make.staged(make.post("Live title"), {"title": "Staged title"})
    assert post.title != "A proposed title"

    page = signed_in().get(address).content.decode()

    said = r"A proposed title.{,900}?badge-ai-review\">(proposed|new post)<"
    assert re.search(said, page, re.DOTALL)
    assert "Live title" in page
    assert "Staged title" not in page


def test_the_pages_of_a_proposed_post_are_headed_by_its_title(signed_in: SignedIn) -> None:
    post = proposed()

    assert "<h1>A proposed title</h1>" in signed_in().get(review(post)).content.decode()


def test_users_who_may_not_decide_see_no_instructions(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "x"})

    deciding = signed_in("editor").get(review(post)).content.decode()
    make.staged(post, {"title": "y"}, layer=Layer.REVIEW)
    reading = signed_in("translator").get(review(post, "review")).content.decode()

    assert 'id="note"' in deciding
    assert "data-page-keys>" in deciding
    assert "but not decide on them" in reading
    assert 'id="note"' not in reading
    assert "data-page-keys>" not in reading


def test_moments_have_one_form_and_utc_is_said_once(signed_in: SignedIn) -> None:
    post, gone = make.post(), make.post("Gone")
    make.staged(post, {"title": "x"})
    make.staged(post, {"title": "y"}, layer=Layer.REVIEW)
    make.edited(post, {"excerpt": "x"}, by=make.actor("admin"))
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    client = signed_in("admin")

    for address in (
        "/admin/content/post/",
        "/admin/content/post/trash/",
        url(post, "revisions"),
        review(post),
        review(post, "review"),
    ):
        page = client.get(address).content.decode()
        # In lists it follows the relative time.
        assert re.search(r'[>"]20\d\d-\d\d-\d\d \d\d:\d\d( \(UTC\))?[<"]', page), address
        assert not re.search(r"\bago\b|\d\d [ap]\.m\.", page), address
        assert page.count("Times in UTC") == 1, address
