"""Authors and byline: who may be named, where they are kept, and what readers see of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from content.api.delivery.rendered_posts import render_posts
from content.layers import stage
from content.models import Layer, Post, PostAuthor
from content.posts.bulk_edit import BulkEdit
from content.posts.copy import copy_page
from content.posts.jobs import start_bulk_edit
from content.posts.page_lock import lock_page
from content.translations.translate import create_translation
from proofroom.accounts.models import User
from proofroom.accounts.services.preferences import change_preferences
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.definitions.listings import IndexPage
from proofroom_apps.website.queries import find_published_post, load_listed_posts
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.mcp.calling import by, done
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def author(name: str, public_name: str = "") -> User:
    user = make.user("editor", name)
    if public_name:
        change_preferences(actor=Actor(user=user, via="admin"), public_name=public_name)
    return user


def rows(post: Post) -> list[int]:
    return [*PostAuthor.objects.filter(post=post).order_by("place").values_list("user", flat=True)]


def put(post: Post, **body: Any) -> Any:
    return ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", body)


def test_the_creator_is_the_author_unless_others_are_given() -> None:
    anna, tom = author("anna"), author("tom")
    client = ApiClient("editor")

    own = client.write("POST", "/api/posts", {"type": "blog", "title": "Own"}, expect=201)
    given = {"type": "blog", "title": "Given", "authors": [tom.pk, anna.pk]}
    other = client.write("POST", "/api/posts", given, expect=201)

    assert own["authors"] == [make.user().pk]
    assert other["authors"] == [tom.pk, anna.pk]
    assert other["author"]["username"] == "editor"
    post = Post.objects.get(pk=other["id"])
    assert rows(post) == [tom.pk, anna.pk]
    assert put(post, authors=[anna.pk, tom.pk])["authors"] == rows(post) == [anna.pk, tom.pk]
    ids = [row["id"] for row in client.read(f"/api/posts?author={tom.pk}")["data"]]
    assert ids == [other["id"]]
    assert client.read("/api/posts?author=999999")["data"] == []
    assert client.read("/api/posts?author=x", expect=422)["details"].keys() == {"author"}
    # A copy and a translation have the same authors.
    translation = create_translation(post_id=post.pk, locale="de", actor=make.actor("admin"))
    copy = copy_page(post_id=post.pk, actor=make.actor("admin"))
    assert rows(copy) == rows(translation) == [anna.pk, tom.pk]


def test_only_active_people_can_be_added() -> None:
    gone, agent = author("gone"), make.user("ai_agent", "helper")
    post = make.post(authors=[gone.pk])
    User.objects.filter(pk=gone.pk).update(is_active=False)
    path = f"/api/posts/{post.pk}"

    for wrong, code in (
        ([gone.pk, 999_999], "unknown_author"),
        ([agent.pk], "unknown_author"),
        *((one, "invalid") for one in (["1"], [True], "1", [2**40], [*range(1, 23)])),
    ):
        refused("PUT", path, {"authors": wrong}, 422, code, "authors")
    # Who left stays where they are named, and others can join.
    me = make.user().pk
    assert put(post, authors=[me, gone.pk])["authors"] == [me, gone.pk]
    assert put(post, authors=[])["authors"] == []
    refused("PUT", path, {"authors": [gone.pk]}, 422, "unknown_author", "authors")


def test_proposals_leave_authors_and_byline_alone() -> None:
    post = make.post()
    for name, value in (("authors", [make.user().pk]), ("byline", "Us")):
        with pytest.raises(RuleViolation) as caught:
            make.staged(post, {name: value})
        assert caught.value.code == "not_stageable"
    stage(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=make.actor(),
        edit=lambda one: one.with_fields({"byline": "The editors", "authors": [make.user().pk]}),
    )
    changes = ApiClient("editor").read(f"/api/posts/{post.pk}/changes")["changes"]
    assert {one["label"]: one["after"] for one in changes}["Byline"] == "The editors"
    pieces = {one["label"]: one["pieces"] for one in changes}["Authors"]
    assert [(one["before"], one["after"]) for one in pieces] == [("admin", "editor")]


def test_readers_see_chosen_names_and_nothing_else() -> None:
    anna = author("anna-canary", "Anna Berg")
    silent = author("silent-canary")
    post = make.post(authors=[silent.pk, anna.pk])
    visitor = ApiClient()
    where = [
        f"/api/public/posts/{post.pk}",
        "/api/public/posts?fields=authors,title",
        post.path,
        f"{post.path}.md",
        "/blog/feed.xml",
    ]

    texts = [visitor.get(path).content.decode() for path in where]

    for path, text in zip(where, texts, strict=True):
        assert "Anna Berg" in text, path
        assert "canary" not in text, path
    assert visitor.read(where[0])["authors"] == [{"name": "Anna Berg"}]
    head = visitor.read(where[0])["seo"]["jsonLd"][0]
    assert head["author"] == {"@type": "Person", "name": "Anna Berg"}
    assert "<dc:creator>Anna Berg</dc:creator>" in texts[4]

    context = done("get_post_context", by("editor"), postId=str(post.pk))
    assert context["post"]["authors"] == ["Anna Berg"]
    assert "canary" not in str(context["post"])

    # A new name is seen at once; a byline replaces all names.
    change_preferences(actor=Actor(user=anna, via="admin"), public_name="A. Berg")
    assert "A. Berg" in visitor.get(post.path).content.decode()
    put(post, byline="The coffee desk")
    page = visitor.get(post.path).content.decode()
    assert "The coffee desk" in page
    assert "Berg" not in page
    assert visitor.read(where[0])["byline"] == "The coffee desk"


def test_names_cost_no_query() -> None:
    posts = [make.post()]
    for name in ("anna", "tom"):
        post = make.post(name, slug=f"by-{name}", authors=[author(name, name).pk, make.user().pk])
        posts.append(post)
    ids = [post.pk for post in posts]

    assert count_queries(render_posts, ids, {"authors", "title"}) == 1
    assert count_queries(find_published_post, posts[1].path, "en") == 1
    listed = load_listed_posts(IndexPage("blog", "en"), 0, 10)
    assert sorted(post.byline for post in listed.posts) == ["", "anna", "tom"]


def test_bulk_edit_sets_adds_and_removes() -> None:
    anna, tom = author("anna").pk, author("tom").pk
    posts = [make.post("One"), make.post("Two", slug="two"), make.post("Three", slug="three")]
    admin = make.user("admin").pk
    lock_page(
        post_id=posts[2].pk,
        until=timezone.now() + timedelta(hours=1),
        actor=Actor(user=User.objects.get(pk=tom), via="api"),
    )

    def run(mode: Any, *ids: int) -> list[list[int]]:
        edit = BulkEdit(author_mode=mode, author_ids=ids)
        ids_ = [post.pk for post in posts]
        start_bulk_edit(
            edit=edit, post_ids=ids_, actor=make.actor("admin", via="admin"), job_id=uuid4()
        )
        return [rows(post) for post in posts]

    assert run("add", tom) == [[admin, tom], [admin, tom], [admin]]
    assert run("set", anna, tom) == [[anna, tom], [anna, tom], [admin]]
    assert run("remove", anna) == [[tom], [tom], [admin]]
    with pytest.raises(RuleViolation, match="at least one person"):
        run("add")
