"""`search` of the lists: order, pages, counts, locales, and searched texts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from content.models import Layer, Post
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
BOTH = pytest.mark.parametrize("path", ["/api/posts", "/api/public/posts"])


def titles(answer: dict[str, Any]) -> list[str]:
    return [post["title"] for post in answer["data"]]


def ask(path: str, words: str, more: str = "", role: str | None = "editor") -> dict[str, Any]:
    answer: dict[str, Any] = ApiClient(role).read(f"{path}?search={quote(words)}{more}")
    return answer


@BOTH
def test_the_best_match_comes_first_unless_an_order_is_asked_for(path: str) -> None:
    make.post("Kettles", slug="a")
    make.post("Zest", slug="b", excerpt="A kettle sings.")
    make.post("Water", slug="c", markdown="Fill the kettle.")

    assert titles(ask(path, "kettle")) == ["Kettles", "Zest", "Water"]
    assert titles(ask(path, "kettle", "&ordering=-title")) == ["Zest", "Water", "Kettles"]
    assert titles(ask(path, "kettle", "&ordering=-updatedAt")) == ["Water", "Zest", "Kettles"]


@BOTH
def test_pages_of_what_was_found_are_whole_and_counted(path: str) -> None:
    for number in range(25):
        make.post(f"Kettle {number}", slug=f"kettle-{number}")
    make.post("Water", slug="water")

    pages = [ask(path, "kettle", f"&per_page=10&page={number}") for number in (1, 2, 3, 4)]

    assert [len(page["data"]) for page in pages] == [10, 10, 5, 0]
    assert {page["meta"]["total"] for page in pages} == {25}
    assert len({title for page in pages for title in titles(page)}) == 25


@BOTH
def test_a_search_stays_in_its_locale_and_heeds_the_other_filters(path: str) -> None:
    make.post("Kettle", slug="a")
    make.post("Kettle on a page", slug="b", type="page")
    make.post("Kettle auf Deutsch", slug="c", locale="de")

    assert sorted(titles(ask(path, "kettle"))) == ["Kettle", "Kettle on a page"]
    assert titles(ask(path, "kettle", "&type=page")) == ["Kettle on a page"]
    assert titles(ask(path, "kettle", "&locale=de")) == ["Kettle auf Deutsch"]
    assert len(titles(ask(path, "kettle", "&allLocales=true"))) == 3
    assert titles(ask(path, "kettle", "&slug=a")) == ["Kettle"]
    assert titles(ask(path, " ", "&slug=a")) == ["Kettle"]
    assert titles(ask(path, "!", "&slug=a")) == []


@BOTH
def test_words_are_at_most_200_characters(path: str) -> None:
    assert list(ApiClient("editor").read(f"{path}?search={'x' * 201}", expect=422)["details"]) == [
        "search"
    ]


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_threat_19_only_published_live_words_answer_in_public(status: str) -> None:
    hidden = make.post("A zeppelin", slug="hidden")
    ApiClient("editor").write("PUT", f"/api/posts/{hidden.pk}", {"status": status})
    post = make.post("Kettle", slug="shown")
    make.staged(post, {"excerpt": "Zirconium"})
    make.staged(post, {"metaTitle": "Zodiac"}, layer=Layer.REVIEW)

    for words in ("zeppelin", "zirconium", "zodiac"):
        assert ask("/api/public/posts", words, "&allLocales=true", None)["meta"]["total"] == 0
    assert titles(ask("/api/posts", "zeppelin")) == ["A zeppelin"]
    for words in ("zirconium", "zodiac"):
        assert ask("/api/posts", words)["meta"]["total"] == 0


@pytest.mark.parametrize("prefix", ["pbkdf2", "md5", "editor", "example"])
def test_threat_19_no_column_but_the_words_of_the_post_is_searched(prefix: str) -> None:
    make.post("Kettle")

    assert ask("/api/posts", prefix)["meta"]["total"] == 0


def test_the_list_of_the_admin_searches_the_same_words() -> None:
    make.post("Café", slug="one")
    make.post("Tea", slug="two")
    Post.objects.update(meta_title="Zodiac")
    editor = ApiClient("editor")

    def listed(query: str) -> list[str]:
        rows = editor.get(f"/admin/content/post/?{query}").context["cl"].result_list
        return [post.title for post in rows]

    assert listed("q=cafe") == listed("q=cafe&o=1") == ["Café"]
    assert listed("q=zodiac") == []
    assert sorted(listed("q=")) == ["Café", "Tea"]
