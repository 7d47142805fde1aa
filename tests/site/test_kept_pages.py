"""A page is rendered once per version of the content; arbitrary URLs are not cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from content.document.document import PostDocument
from content.models import Layer, PostModule
from content.posts.edit import edit_post
from content.store import document_edits
from content.translations.translate import create_translation
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_memo import ContentMemo, content_memo
from proofroom.definitions import modules
from proofroom_apps.website import queries
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
Edit = Callable[[PostDocument], PostDocument]


def test_a_cached_page_takes_one_query(django_assert_num_queries: Any) -> None:
    make.post("Filter coffee", slug="coffee")
    first = Client().get("/blog/coffee")

    with django_assert_num_queries(1):
        again = Client().get("/blog/coffee")

    assert again.content == first.content
    headers = [{**answer.headers, "X-Request-ID": ""} for answer in (first, again)]
    assert headers[0] == headers[1]


@pytest.mark.parametrize(
    ("address", "accept", "number"),
    [
        ("/blog/coffee", "text/html", 1),
        ("/blog/coffee", "text/markdown", 1),
        ("/blog/coffee.md", "text/html", 2),
        # The version, and queries of the page with everything it shows of other posts.
        ("/blog", "text/html", 2),
        ("/blog", "text/markdown", 2),
        ("/blog/feed.xml", "text/html", 2),
    ],
)
def test_what_is_made_anew_takes_few_queries(
    address: str, accept: str, number: int, django_assert_num_queries: Any
) -> None:
    make.post("Home", type="page", slug="home")
    post = make.post("Filter coffee", slug="coffee", excerpt="With hot water")
    create_translation(post_id=post.pk, locale="de", actor=make.actor("admin"))
    first = Client().get(address, headers={"accept": accept})

    answers.clear()
    with django_assert_num_queries(number):
        again = Client().get(address, headers={"accept": accept})

    assert again.content == first.content


def test_a_page_deep_in_a_tree_is_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    above = make.post("About", type="page", slug="about")
    make.post("Team", type="page", slug="team", parentId=str(above.pk))
    page = Client().get("/about/team").content
    assert page.count(b'<a href="/about">About</a>') == 1
    answers.clear()
    monkeypatch.setattr(queries, "_MAX_PATHS_ABOVE", 0)

    assert Client().get("/about/team").content == page


def test_what_changed_is_seen_at_once() -> None:
    post = make.post("Filter coffee", slug="coffee")
    Client().get("/blog/coffee")

    make.edited(post, {"metaTitle": "Tea"})

    assert b"<title>Tea</title>" in Client().get("/blog/coffee").content


def prose(words: str) -> Edit:
    def fill(document: PostDocument) -> PostDocument:
        return document_edits.add_module(
            document, type="prose", content_markdown=f"## Water\n\n{words}"
        )[0]

    return fill


def test_headings_keep_unique_ids_after_an_edit() -> None:
    post = make.post("Filter coffee", slug="coffee")
    for words in ("First", "Second"):
        edit_post(post_id=post.pk, actor=make.actor("admin"), edit=prose(words))
    before = Client().get("/blog/coffee").content
    assert [before.count(id_) for id_ in (b'id="water"', b'id="water-2"')] == [1, 1]
    ids = list(PostModule.objects.filter(post=post).order_by("-order_index").values_list("pk"))

    make.changed_module(
        post, str(ids[0][0]), content_markdown="## Water\n\nThird", by=make.actor("admin")
    )
    after = Client().get("/blog/coffee").content

    assert b"Second" not in after
    assert b"Third" in after
    assert [after.count(id_) for id_ in (b'id="water"', b'id="water-2"')] == [1, 1]


def test_equal_contents_make_a_page_once_at_whatever_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post = make.post("Filter coffee", slug="coffee", featuredMediaId=str(make.image().pk))
    make.edited(post, {"excerpt": "With hot water"})
    doors = ("/blog/coffee", "/blog/coffee.md", "/blog", "/blog/feed.xml")
    before = {door: Client().get(door).content for door in doors}
    made: list[object] = []
    known = ContentMemo.keep
    monkeypatch.setattr(
        ContentMemo, "keep", lambda memo, key, one: made.append(known(memo, key, one))
    )

    for door in doors:
        answers.clear()
        assert Client().get(door).content == before[door]
    assert made == []

    make.edited(post, {"excerpt": "Slowly"})
    assert b"Slowly" in Client().get("/blog/coffee").content
    assert made


def test_what_failed_in_a_page_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    post = make.post("Filter coffee", slug="coffee")
    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=prose("Slowly"))
    prose_type = modules.all()["prose"]
    with monkeypatch.context() as patch:
        patch.setattr(prose_type, "template_context", classmethod(lambda *given: 1 / 0))
        assert b"module-prose" not in Client().get("/blog/coffee").content

    assert b"module-prose" in Client().get("/blog/coffee").content


def test_a_preview_is_never_cached() -> None:
    post = make.post("Filter coffee", slug="coffee")
    make.staged(post, {"title": "Canary"}, layer=Layer.REVIEW)
    link = ApiClient("editor").write(
        "POST", f"/api/posts/{post.pk}/preview-links", {"layer": "review"}, expect=201
    )
    content_memo.clear()

    assert b"Canary" in Client().get(urlsplit(link["url"]).path).content

    assert not content_memo._entries
    assert b"Canary" not in Client().get("/blog/coffee").content


def test_each_form_is_autosaved_separately() -> None:
    make.post("Filter coffee", slug="coffee")
    html = Client().get("/blog/coffee")

    markdown = Client().get("/blog/coffee", headers={"accept": "text/markdown"})

    assert markdown.headers["Content-Type"].startswith("text/markdown")
    assert Client().get("/blog/coffee").content == html.content


def test_ignored_queries_share_one_cached_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.post("Filter coffee", slug="coffee")
    kept: list[str] = []
    monkeypatch.setattr(answers, "put", lambda version, key, *rest: kept.append(key))

    for number in range(3):
        assert Client().get(f"/blog/coffee?n={number}").status_code == 200

    assert len(set(kept)) == 1
