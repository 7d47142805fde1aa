from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client, RequestFactory

from cms_project import errors
from content.models import Layer, Post
from content.posts.publish import set_status
from content.posts.trash import delete_post
from tests import make
from tests.admin.pages import review, url
from tests.contract.endpoint import NOBODY
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

SignedIn = Callable[..., Client]


def test_the_list_shows_layers_and_finds_by_words(signed_in: SignedIn) -> None:
    post = make.post("Coffee")
    make.post("Tea")
    make.staged(post, {"title": "x"})
    client = signed_in()

    page = client.get("/admin/content/post/").content.decode()
    assert f'href="{review(post)}"' in page
    found = client.get("/admin/content/post/?q=coffee").content.decode()
    assert "Coffee" in found
    assert ">Tea<" not in found
    waiting = client.get("/admin/content/post/?waiting=ai-review").content.decode()
    assert ">Tea<" not in waiting


def test_the_list_takes_as_many_queries_for_many_posts(signed_in: SignedIn) -> None:
    client = signed_in()
    make.staged(make.post("One"), {"title": "x"})
    address = "/admin/content/post/"
    client.get(address)

    def count() -> int:
        return count_queries(client.get, address)

    before = count()
    for number in range(12):
        make.staged(make.post(f"No. {number}"), {"title": "x"})
    assert count() == before


def test_home_and_inbox_show_what_waits_newest_first(signed_in: SignedIn) -> None:
    older, newer = make.post("Older"), make.post("Newer")
    make.staged(older, {"excerpt": "x"})
    make.staged(newer, {"excerpt": "x"}, layer=Layer.REVIEW)
    client = signed_in()

    home = client.get("/admin/").content.decode()
    inbox = client.get("/admin/inbox/").content.decode()
    only = client.get("/admin/inbox/?layer=review").content.decode()

    assert review(older) in home
    assert review(newer, "review") in home
    assert inbox.index(">Newer<") < inbox.index(">Older<")
    assert ">Older<" not in only


def test_a_revision_is_compared_and_restored(signed_in: SignedIn) -> None:
    post = make.post()
    first = post.revisions.get()
    make.edited(post, {"title": "Second title"}, by=make.actor("admin"))
    last = post.revisions.order_by("-version").first()
    client = signed_in()

    listed = client.get(url(post, "revisions")).content.decode()
    compared = client.get(url(post, "revisions/compare", f"?from={first.pk}&to={last.pk}"))
    asked = client.get(url(post, f"revisions/{first.pk}/restore"))
    assert str(first.pk) in listed
    one = compared.content.decode()
    other = client.get(f"{compared.request['PATH_INFO']}?from={last.pk}&to={first.pk}&view=split")
    assert "<ins>" in one
    assert (one.count("split-before"), other.content.decode().count("split-before")) == (0, 1)
    assert f'href="?from={first.pk}&amp;to={last.pk}&amp;view=split">Side by side' in one
    assert f'<option value="{last.pk}" selected>2 · admin' in one
    assert "Second title" in asked.content.decode() or "Second" in asked.content.decode()
    assert Post.objects.get(pk=post.pk).title == "Second title"

    client.post(url(post, f"revisions/{first.pk}/restore"))

    assert Post.objects.get(pk=post.pk).title == "How to brew filter coffee"


def test_a_revision_names_its_author_what_changed_and_its_neighbour(signed_in: SignedIn) -> None:
    post = make.post(status="draft")
    first = post.revisions.get()
    set_status(post_id=post.pk, status="published", actor=make.actor("admin"))
    make.edited(post, {"title": "Second", "excerpt": "Words", "metaTitle": "Meta", "slug": "moved"})
    client = signed_in()

    page = client.get(url(post, "revisions")).content.decode()
    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in page.split("<tr>")[2:]]

    kept, edited = post.revisions.get(reason="before"), post.revisions.get(reason="edited")
    assert re.search(r"Edited: (?:[\w ]+, ){3}1 more", rows[0])
    assert " editor " in rows[0]
    assert rows[1].startswith("Published admin ")
    assert "Created" in rows[2]
    assert f"?from={kept.pk}&amp;to={edited.pk}" in page
    assert f"to={kept.pk}" not in page
    assert f"to={first.pk}" not in page


def test_the_history_says_what_became_of_the_status_and_by_whom(signed_in: SignedIn) -> None:
    post, client = make.post(status="draft"), signed_in()
    for status in ("published", "draft", "archived", "draft", "published"):
        set_status(post_id=post.pk, status=status, actor=make.actor("admin"))
    make.edited(post, {"excerpt": "Words"})
    set_status(post_id=post.pk, status="draft", actor=make.actor("editor"))

    def words(query: str, tag: str) -> list[str]:
        page = client.get(url(post, "revisions", query)).content.decode()
        parts = re.findall(rf"<{tag}[ >].*?</{tag}>", page, re.DOTALL)
        return [" ".join(re.sub(r"<[^>]+>", " ", part).split()) for part in parts]

    history = words("?part=latest", "li")
    assert [line.split(" · ")[0] for line in history] == [
        "Unpublished editor",
        "Edited current editor",
        "Published admin",
        "Restored as draft admin",
        "Archived admin",
        "Unpublished admin",
        "Published admin",
        "Created admin",
    ]
    rows = words("", "tr")[1:]
    assert [" current " in row for row in rows] == [" current " in line for line in history]
    assert rows[0].startswith("Unpublished editor ")
    assert len(rows) == len(history)


def test_each_page_of_revisions_shows_its_status_changes(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofroom_apps.editorial.posts.revisions._PAGE_SIZE", 1)
    post, client = make.post(status="draft"), signed_in()
    set_status(post_id=post.pk, status="published", actor=make.actor("admin"))
    make.edited(post, {"excerpt": "Words"})
    set_status(post_id=post.pk, status="draft", actor=make.actor("editor"))

    pages = [client.get(url(post, "revisions", f"?page={n}")).content.decode() for n in (1, 2, 3)]

    assert ["<td>Unpublished</td>" in page for page in pages] == [True, False, False]
    assert ["<td>Published</td>" in page for page in pages] == [False, True, False]
    assert ['badge-draft">current' in page for page in pages] == [True, False, False]


def test_the_list_of_revisions_takes_as_many_queries_however_long_it_is(
    signed_in: SignedIn,
) -> None:
    client, counts = signed_in(), []
    for number in (3, 12):
        post = make.post(f"Post {number}", slug=f"post-{number}", status="draft")
        set_status(post_id=post.pk, status="published", actor=make.actor("admin"))
        for each in range(number):
            make.edited(post, {"excerpt": f"Words {each}"})
        client.get(url(post, "revisions"))
        counts.append(count_queries(client.get, url(post, "revisions")))

    assert counts[0] == counts[1]


def test_white_space_that_differs_is_drawn_in_revisions(signed_in: SignedIn) -> None:
    post = make.post(excerpt="One two")
    make.edited(post, {"excerpt": "One\u00a0two"})
    first, last = post.revisions.order_by("version")

    page = signed_in().get(url(post, "revisions/compare", f"?from={first.pk}&to={last.pk}"))

    assert "U+00A0 no-break space" in page.content.decode()


def test_threat_01_revisions_of_another_post_are_not_found(signed_in: SignedIn) -> None:
    post, other = make.post("One"), make.post("Other")
    own, foreign = post.revisions.get().pk, other.revisions.get().pk
    client = signed_in()

    for address in (
        url(post, "revisions/compare", f"?from={own}&to={foreign}"),
        url(post, "revisions/compare", f"?from={foreign}&to={own}"),
        url(post, "revisions/compare", "?from=nonsense&to="),
        url(post, f"revisions/{foreign}/restore"),
    ):
        assert client.get(address).status_code == 404
    assert client.post(url(post, f"revisions/{foreign}/restore")).status_code == 404


def test_a_deleted_post_is_in_the_trash_and_comes_back(signed_in: SignedIn) -> None:
    post = make.post("Thrown away")
    client = signed_in()

    assert client.get(url(post, "delete")).status_code == 200
    client.post(url(post, "delete"))
    assert client.get(url(post)).status_code == 404
    trash = client.get("/admin/content/post/trash/").content.decode()
    assert "Thrown away" in trash
    assert re.search(r"Deleted by </span>editor<", trash)
    assert "Deleted permanently" in trash
    assert 'href="/admin/content/post/trash/"' in client.get("/admin/").content.decode()
    client.post("/admin/content/post/trash/", {"post": str(post.pk)})

    assert Post.objects.get(pk=post.pk).deleted_at is None


def test_several_posts_come_back_at_once_or_one_by_its_button(signed_in: SignedIn) -> None:
    posts = [make.post(f"Post {name}", slug=name) for name in ("a", "b", "c")]
    for post in posts:
        delete_post(post_id=post.pk, actor=make.actor("admin"))
    client, ids = signed_in(), [str(post.pk) for post in posts]
    assert "after 30 days" in client.get("/admin/content/post/trash/").content.decode()

    client.post("/admin/content/post/trash/", {"post": ids[:2], "one": ids[2]})
    assert [row.slug for row in Post.objects.filter(deleted_at=None)] == ["c"]
    client.post("/admin/content/post/trash/", {"post": [*ids[:2], "nonsense"]})

    assert not Post.objects.exclude(deleted_at=None).exists()


def test_restoring_onto_a_taken_slug_says_so(signed_in: SignedIn) -> None:
    post = make.post("Twice", slug="twice")
    delete_post(post_id=post.pk, actor=make.actor("admin"))
    make.post("Other", slug="twice")
    client = signed_in()

    page = client.post("/admin/content/post/trash/", {"post": str(post.pk)}, follow=True)

    assert "already uses the slug" in page.content.decode()
    assert Post.objects.get(pk=post.pk).deleted_at is not None


@pytest.mark.parametrize("bad", ["", "nonsense", NOBODY])
def test_restoring_what_is_not_there_is_no_error(signed_in: SignedIn, bad: str) -> None:
    assert signed_in().post("/admin/content/post/trash/", {"post": bad}).status_code == 302


def test_a_new_post_is_a_draft_with_the_default_modules(signed_in: SignedIn) -> None:
    client = signed_in()

    refused = client.post(
        "/admin/content/post/add/", {"title": " ", "type": "blog", "locale": "en"}
    )
    made: Any = client.post(
        "/admin/content/post/add/", {"title": "Made", "type": "blog", "locale": "en"}
    )

    assert refused.status_code == 422
    post = Post.objects.get(title="Made")
    assert made.url == url(post)
    assert post.status == "draft"


def test_pages_of_drafts_are_never_cached(signed_in: SignedIn) -> None:
    post = make.post()
    for address in (url(post), review(post), "/admin/inbox/", url(post, "revisions")):
        assert "no-store" in signed_in().get(address)["Cache-Control"]


def test_the_policy_of_every_page_is_strict(signed_in: SignedIn) -> None:
    answer: Any = signed_in().get(review(make.post()))
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|<style|<script(?![^>]*\ssrc=)", answer.content.decode())


def test_filters_say_types_and_languages_by_name_with_how_many_too(signed_in: SignedIn) -> None:
    make.post()

    page = signed_in().get("/admin/content/post/?_facets=True").content.decode()

    assert ">Blog post (1)</a>" in page
    assert ">English (1)</a>" in page


@pytest.mark.usefixtures("one_window")
def test_the_eleventh_try_is_refused_even_if_right() -> None:
    make.user("editor")
    client = Client()
    right = {"username": "editor@example.com", "password": make.PASSWORD}
    for _ in range(10):
        wrong = client.post("/admin/login/", {**right, "password": "wrong"})
        assert wrong.status_code == 200

    answer = client.post("/admin/login/", right)

    assert answer.status_code == 429
    assert int(answer["Retry-After"]) >= 1
    assert "Too many login attempts. Try again in" in answer.content.decode()
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("role", ["ai_agent"])
def test_an_agents_account_cannot_log_in(role: str) -> None:
    user = make.user(role)
    user.set_password(make.PASSWORD)
    user.save()
    client = Client()

    client.post("/admin/login/", {"username": user.email, "password": make.PASSWORD})

    assert "_auth_user_id" not in client.session


def test_a_server_error_has_a_page() -> None:
    answer = errors.server_error(RequestFactory().get("/somewhere"))

    assert answer.status_code == 500
    assert b"<html" in answer.content
