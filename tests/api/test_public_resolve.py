"""Frontends resolve addresses: posts, lists, redirects, and many at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Layer
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from proofroom.core.caching.answer_cache import answers
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
RESOLVE = "/api/public/resolve"


def resolved(path: str, query: str = "", expect: int = 200) -> Any:
    return ApiClient().read(f"{RESOLVE}?path={path}{query}", expect=expect)


def many(*paths: str, **more: Any) -> Any:
    return ApiClient().write("POST", RESOLVE, {"paths": list(paths), **more})["data"]


def test_a_list_is_resolved_with_its_page_and_languages() -> None:
    post = make.post(slug="a")
    make.post("B", locale="de", translation_of=post, slug="b")

    found = resolved("/blog")

    [shown] = found.pop("posts")
    assert shown == ApiClient().read("/api/public/posts?type=blog")["data"][0]
    assert found == {
        "type": "list",
        "postType": "blog",
        "locale": "en",
        "url": "/blog",
        "title": "Blog",
        "term": None,
        "page": 1,
        "lastPage": 1,
        "perPage": 12,
        "total": 1,
        "translations": [{"locale": "de", "url": "/de/blog"}],
    }
    assert resolved("/de/blog")["locale"] == "de"
    assert resolved("/blog/")["url"] == "/blog"
    for path in ("/blog%3Fpage=2", "/company", "/blog/topics/none"):
        resolved(path, expect=404)


def test_a_list_of_a_term_names_it_and_its_pages_are_those_of_the_site() -> None:
    term = make.term("Coffee")
    for number in range(13):
        make.post(slug=f"post-{number}", taxonomyTermIds=[str(term.pk)])
    make.post(slug="other")

    first, second = resolved("/blog/topics/coffee"), resolved("/blog/topics/coffee%3Fpage=2")

    assert (first["page"], first["lastPage"], first["total"]) == (1, 2, 13)
    assert resolved("/blog/topics/coffee", "&page=2") == second
    resolved("/blog/topics/coffee", "&page=0", expect=422)
    assert (second["page"], second["title"], second["term"]["id"]) == (2, "Coffee", str(term.pk))
    assert Client().get("/blog/topics/coffee?page=2").status_code == 200
    assert Client().get("/blog/topics/coffee?page=3").status_code == 404
    resolved("/blog/topics/coffee%3Fpage=3", expect=404)


def test_a_list_has_the_posts_of_its_page_in_the_order_of_the_site() -> None:
    term, image = make.term("Coffee"), make.image()
    posts = [
        make.post(slug=f"p{n}", taxonomyTermIds=[str(term.pk)], featuredMediaId=str(image.pk))
        for n in range(14)
    ]
    make.edited(posts[3], {"title": "Changed last"})
    make.post("B", locale="de", slug="b", taxonomyTermIds=[str(term.pk)])
    newest = [str(post.pk) for post in reversed(posts)]

    def ids(path: str, query: str = "") -> list[str]:
        return [post["id"] for post in resolved(path, query)["posts"]]

    assert ids("/blog/topics/coffee") == newest[:12]
    assert ids("/blog/topics/coffee", "&page=2&fields=id") == newest[12:]
    listed = "/api/public/posts?type=blog&ordering=-publishedAt&per_page=12&"
    for query in ("fields=title,seo,terms", "include=media,terms", "richtext=html"):
        found, expected = resolved("/blog", f"&{query}"), ApiClient().read(f"{listed}{query}")
        assert found["posts"] == expected["data"]
        assert found.get("included") == expected.get("included")
    assert "included" not in resolved("/blog")
    [german] = resolved("/de/blog", "&fallback=en&fields=title,isFallback")["posts"]
    assert german == {"title": "B", "isFallback": False}
    dear = ",".join(["children.children.children", "modules.posts.children.children"])
    answer = resolved("/blog", f"&include={dear}", expect=422)
    assert answer["code"] == "cost_exceeded"
    resolved("/blog/p1", f"&include={dear}")


def test_many_paths_are_resolved_by_the_path_that_was_sent() -> None:
    post = make.post(slug="coffee")
    make.redirect("/old", "/blog/coffee")
    make.post("Draft", slug="draft", status="draft")

    found = many("/blog/coffee", "/blog/coffee/", "/old", "/blog", "/blog/draft", "/x\u2028 ")

    assert list(found) == [
        "/blog/coffee", "/blog/coffee/", "/old", "/blog", "/blog/draft", "/x\u2028 ",
    ]  # fmt: skip
    whole = resolved("/blog/coffee")
    assert found["/blog/coffee"] == found["/blog/coffee/"] == whole
    assert found["/old"] == resolved("/old")
    assert found["/blog"] == {
        name: value for name, value in resolved("/blog").items() if name != "posts"
    }
    assert found["/blog/draft"] == found["/x\u2028 "] == {"type": "not_found"}
    sparse = many("/blog/coffee", fields=["id", "url"])
    assert sparse["/blog/coffee"]["post"] == {"id": str(post.pk), "url": "/blog/coffee"}


def test_a_post_is_resolved_with_what_it_includes() -> None:
    term, target = make.term("Coffee"), make.post("Target", slug="target")
    post = make.post(slug="a", taxonomyTermIds=[str(term.pk)])
    make.added_module(post, type="blog-list", props={"postIds": [str(target.pk)]})
    b = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    change_variation(post_id=post.pk, variation_id=b.pk, actor=make.actor(), running=True)

    query = "&include=terms,modules.posts"
    whole, single = (
        resolved(post.path, query),
        ApiClient().read(f"/api/public/posts/{post.pk}?{query}"),
    )
    few = resolved(post.path, f"{query}&fields=title,modules")
    other = resolved(post.path, f"{query}&variation=B")

    included = single.pop("included")
    assert whole == {"type": "post", "post": single, "included": included}
    assert [one["title"] for one in included["posts"].values()] == ["Target"]
    assert few["included"] == included
    assert set(few["post"]) == {"title", "modules", "taxonomyTermIds"}
    assert few["post"]["modules"][-1]["posts"] == [str(target.pk)]
    assert (other["post"]["id"], other["included"]["terms"]) == (str(b.pk), included["terms"])
    resolved(post.path, "&include=author", expect=422)


def test_files_and_terms_of_many_paths_are_included_once() -> None:
    image, term = make.image(), make.term("Coffee")
    for slug in ("a", "b"):
        make.post(slug=slug, featuredMediaId=str(image.pk), taxonomyTermIds=[str(term.pk)])
    body = {"paths": ["/blog/a", "/blog/b", "/x"], "fields": ["id"], "include": ["media", "terms"]}

    answer = ApiClient().write("POST", RESOLVE, body)

    assert [set(one.get("post", {})) for one in answer["data"].values()] == [
        {"id", "taxonomyTermIds"},
        {"id", "taxonomyTermIds"},
        set(),
    ]
    assert set(answer["included"]["media"]) == {str(image.pk)}
    assert [one["name"] for one in answer["included"]["terms"].values()] == ["Coffee"]
    whole = ApiClient().write("POST", RESOLVE, {"paths": ["/blog/a"], "include": ["media"]})
    assert whole["data"]["/blog/a"] == resolved("/blog/a")
    assert "included" not in ApiClient().write("POST", RESOLVE, {"paths": ["/blog/a"]})


def test_many_paths_cost_as_many_queries_as_one_of_each_kind() -> None:
    term = make.term("Coffee")
    for number in range(6):
        make.post(slug=f"post-{number}", taxonomyTermIds=[str(term.pk)])
        make.redirect(f"/old-{number}", f"/blog/post-{number}")

    def cost(number: int) -> int:
        paths = [
            path
            for at in range(number)
            for path in (f"/blog/post-{at}", f"/old-{at}", f"/gone-{at}")
        ]
        return count_queries(many, *paths, "/blog", "/blog/topics/coffee")

    cost(1), cost(6)
    # Posts, those above them, counts of lists and of terms, terms, redirects.
    assert (cost(1), cost(6)) == (6, 6)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "paths"),
        ({"paths": []}, "paths"),
        ({"paths": ["/"] * 101}, "paths"),
        ({"paths": "/"}, "paths"),
        ({"paths": ["no"]}, "paths.0"),
        ({"paths": ["/", "/\x00"]}, "paths.1"),
        ({"paths": ["/" * 3000]}, "paths.0"),
        ({"paths": ["/"], "fields": ["author"]}, "fields"),
        ({"paths": ["/"], "fields": "id"}, "fields"),
        ({"paths": ["/"], "include": ["author"]}, "include"),
        ({"paths": ["/"], "include": ["media.media"]}, "include"),
        ({"paths": ["/"], "richtext": "pdf"}, "richtext"),
        ({"paths": ["/"], "layer": "review"}, "layer"),
        ({"paths": ["/"], "fallback": "xx"}, "fallback"),
        ({"paths": ["/"], "fallback": ["en"]}, "fallback"),
    ],
)
def test_wrong_bodies_are_refused_by_key(body: Any, key: str) -> None:
    refused = ApiClient().send("POST", RESOLVE, body)

    assert refused.status_code == 422
    assert key in refused.json()["details"]


def test_a_refusal_says_what_is_wrong_with_a_path_or_a_field() -> None:
    client = ApiClient()

    path = client.send("POST", RESOLVE, {"paths": ["/", "blog"]}).json()
    field = client.send("POST", RESOLVE, {"paths": ["/"], "fields": ["id", "author"]}).json()

    assert path["details"] == {"paths.1": ["must begin with /."]}
    assert field["error"].endswith("; 'author' is not one of them.")


def test_threat_09_no_path_answers_what_is_not_live() -> None:
    post = make.post("Kettle", slug="kettle")
    make.staged(post, {"title": "zeppelin"})
    make.staged(post, {"slug": "zeppelin", "metaTitle": "zeppelin"}, layer=Layer.REVIEW)
    make.post("zeppelin", slug="draft", status="draft")
    make.post("zeppelin", locale="de", translation_of=post, slug="entwurf", status="draft")
    paths = ("/blog/kettle", "/blog/draft", "/de/blog/entwurf", "/de/blog", "/blog/zeppelin")

    answer = ApiClient("admin").send("POST", RESOLVE, {"paths": list(paths)})

    assert b"zeppelin" not in answer.content.replace(b'"/blog/zeppelin"', b"")
    assert [found["type"] for found in answer.json()["data"].values()] == [
        "post", "not_found", "not_found", "not_found", "not_found",
    ]  # fmt: skip
    for path in paths:
        fallback = ApiClient().get(f"{RESOLVE}?path={path}&fallback=en").content
        assert b"zeppelin" not in fallback


def test_a_fallback_is_the_same_post_in_another_language_and_says_so() -> None:
    post = make.post("Coffee", slug="coffee")
    both = make.post("Tea", slug="tea")
    make.post("Tee", locale="de", translation_of=both, slug="tee")
    hidden = make.post("Kaffee", locale="de", translation_of=post, slug="kaffee")
    ApiClient("editor").write("PUT", f"/api/posts/{hidden.pk}", {"status": "draft"})

    def seen(path: str, query: str = "&fallback=en") -> tuple[str, bool | None]:
        post = resolved(path, query)["post"]
        return post["title"], post.get("isFallback")

    assert seen("/de/blog/tee") == ("Tee", False)
    assert seen("/de/blog/tee", "") == ("Tee", None)
    assert seen("/de/blog/coffee") == ("Coffee", True)
    # The address of the German post, which was published once.
    assert seen("/de/blog/kaffee") == ("Coffee", True)
    # It is published in German, at another address.
    resolved("/de/blog/tea", "&fallback=en", expect=404)
    resolved("/de/blog/coffee", expect=404)
    resolved("/de/blog/coffee", "&fallback=xx", expect=422)


def test_many_paths_fall_back_as_one_does() -> None:
    image = make.image()
    post = make.post("Coffee", slug="coffee", featuredMediaId=str(image.pk))
    both = make.post("Tea", slug="tea")
    make.post("Tee", locale="de", translation_of=both, slug="tee")
    hidden = make.post("Kaffee", locale="de", translation_of=post, slug="kaffee")
    ApiClient("editor").write("PUT", f"/api/posts/{hidden.pk}", {"status": "draft"})
    make.post("Secret", locale="de", translation_of=make.post(slug="x"), slug="y", status="draft")
    paths = [
        "/de/blog/tee", "/de/blog/coffee", "/de/blog/kaffee", "/blog/coffee", "/de/blog/tea",
        "/de/blog/y", "/de/blog", "/x\u2028",
    ]  # fmt: skip

    for more in ({}, {"fields": ["id", "isFallback"]}, {"include": ["media"]}):
        found = many(*paths, fallback="en", **more)
        query = "".join(f"&{name}={','.join(values)}" for name, values in more.items())
        for path in paths[:4]:
            assert found[path]["post"] == resolved(path, f"&fallback=en{query}")["post"], path
        assert [found[path].get("post", {}).get("isFallback") for path in paths] == [
            False, True, True, False, None, None, None, None,
        ]  # fmt: skip
        assert [found[path]["type"] for path in paths[4:]] == [
            "not_found", "not_found", "list", "not_found",
        ]  # fmt: skip
    assert many("/de/blog/coffee")["/de/blog/coffee"] == {"type": "not_found"}

    def cost(*paths: str) -> int:
        return count_queries(many, *paths, fallback="en")

    cost(*paths[:2])
    assert cost(*paths[:2]) == cost(*paths[:4]) == 5


def test_many_paths_are_not_stored_and_take_no_parameters() -> None:
    make.post(slug="coffee")
    client, body = ApiClient(), {"paths": ["/blog/coffee"]}

    for paths in (body["paths"], []):
        answer = client.send("POST", RESOLVE, {"paths": paths})
        assert answer["Cache-Control"] == "no-store"
    assert client.send("POST", f"{RESOLVE}?utm_source=x&_=1", body).status_code == 200
    refused = client.send("POST", f"{RESOLVE}?fallback=en", body)
    assert (refused.status_code, list(refused.json()["details"])) == (422, ["fallback"])


def test_a_post_and_a_list_fall_back_by_translation() -> None:
    post, both = make.post("Coffee", slug="coffee"), make.post("Tea", slug="tea")
    german = make.post("Tee", locale="de", translation_of=both, slug="tee")
    client = ApiClient()

    listed = client.read("/api/public/posts?locale=de&fallback=en&ordering=title")
    sparse = client.read("/api/public/posts?locale=de&fallback=en&ordering=title&fields=id")
    by_id = f"/api/public/posts/{both.pk}?locale=de&fallback=en"

    assert [(row["title"], row["isFallback"]) for row in listed["data"]] == [
        ("Coffee", True), ("Tee", False),
    ]  # fmt: skip
    assert sparse["data"] == [
        {"id": str(post.pk), "isFallback": True}, {"id": str(german.pk), "isFallback": False},
    ]  # fmt: skip
    assert (client.read(by_id)["title"], client.read(by_id)["isFallback"]) == ("Tee", False)
    one = client.read(f"/api/public/posts/{post.pk}?locale=de&fallback=en&fields=title")
    assert one == {"title": "Coffee", "isFallback": True}
    for path in (f"/api/public/posts/{post.pk}?locale=de&", "/api/public/posts?type=blog&"):
        alone = client.read(f"{path}fallback=en&fields=isFallback")
        assert set(alone if "data" not in alone else alone["data"][0]) == {"isFallback"}
        named = client.read(f"{path}fields=title,isFallback")
        assert set(named if "data" not in named else named["data"][0]) == {"title"}
    client.read(f"/api/public/posts/{german.pk}?locale=fr&fallback=de", expect=422)
    assert "isFallback" not in client.read("/api/public/posts?locale=de")["data"][0]
    assert ApiClient("editor").get("/api/posts?fallback=en").status_code == 422


def test_what_is_resolved_changes_with_the_content() -> None:
    make.post(slug="coffee")
    answers.clear()
    assert resolved("/blog")["total"] == 1

    make.post("Tea", slug="tea")

    assert resolved("/blog")["total"] == 2
