"""`include` of the delivery API: related things, each once, of bounded depth and cost, and never what is not live."""

from __future__ import annotations

from typing import Any, Final

import pytest

from content.models import Layer, Post
from content.posts.variations import create_variation
from content.store.media_usage import rebuild_references
from content.store.traffic import change_variation
from proofroom.core.caching.answer_cache import answers
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LIST: Final = "/api/public/posts"


def ask(query: str, expect: int = 200) -> Any:
    return ApiClient().read(f"{LIST}?{query}", expect=expect)


def test_each_thing_is_included_once_and_named_by_the_posts() -> None:
    image, term = make.image(), make.term("Soil")
    top = make.post("Top", type="page", slug="top", featuredMediaId=str(image.pk))
    below = [
        make.post(
            f"Below {number}", type="page", slug=f"below-{number}", parentId=str(top.pk),
            featuredMediaId=str(image.pk), orderIndex=2 - number,
        )
        for number in range(2)
    ]  # fmt: skip
    for post in (top, *below):
        post.post_terms.create(term=term)
    german = make.post("Oben", type="page", locale="de", translation_of=top, slug="oben")

    answer = ask("type=page&include=media,terms,parent,children,translations")

    rows = {row["id"]: row for row in answer["data"]}
    included = answer["included"]
    assert set(answer) == {"data", "meta", "included"}
    assert set(included) == {"posts", "media", "terms"}
    assert rows[str(top.pk)]["children"] == [str(below[1].pk), str(below[0].pk)]
    assert rows[str(below[0].pk)]["children"] == []
    assert rows[str(top.pk)]["translations"] == [
        {"id": str(german.pk), "locale": "de", "url": "/de/oben"}
    ]
    assert rows[str(top.pk)]["taxonomyTermIds"] == [str(term.pk)]
    assert set(included["posts"]) == {str(post.pk) for post in (top, *below, german)}
    assert set(included["media"]) == {str(image.pk)}
    assert set(included["media"][str(image.pk)]) >= {"url", "alt", "width", "variants"}
    (told,) = included["terms"].values()
    assert {name: told[name] for name in ("id", "slug", "name", "taxonomy")} == {
        "id": str(term.pk), "slug": "soil", "name": "Soil", "taxonomy": "topics",
    }  # fmt: skip
    parent = included["posts"][str(top.pk)]
    assert (parent["title"], parent["url"]) == ("Top", "/top")
    assert "modules" not in parent
    assert "customFields" in parent


def test_a_list_module_can_be_rendered_from_one_answer() -> None:
    image = make.image()
    term = make.term("Soil")
    newest = [make.post(f"Blog {number}", slug=f"blog-{number}") for number in range(3)]
    newest[0].post_terms.create(term=term)
    praise = make.post(
        "Praise", type="testimonial", slug="praise",
        customFields={"quote": "Fine", "portraitId": str(image.pk)},
    )  # fmt: skip
    draft = make.post("Draft", type="testimonial", slug="draft", status="draft")
    page = make.post("Home", type="page", slug="home")
    for type_, props in (
        ("blog-list", {"count": 2}),
        ("blog-list", {"termId": str(term.pk)}),
        ("testimonial-list", {"postIds": [str(draft.pk), str(praise.pk)]}),
    ):
        make.added_module(page, type=type_, props=props)

    answer = ask("type=page&include=modules.posts")

    modules = [module for module in answer["data"][0]["modules"] if "posts" in module]
    assert [module["type"] for module in modules] == ["blog-list", "blog-list", "testimonial-list"]
    assert len(modules[0]["posts"]) == 2
    assert set(modules[0]["posts"]) < {str(post.pk) for post in newest}
    assert [module["posts"] for module in modules[1:]] == [[str(newest[0].pk)], [str(praise.pk)]]
    posts = answer["included"]["posts"]
    assert set(posts) == {id_ for module in modules for id_ in module["posts"]}
    assert posts[str(praise.pk)]["customFields"]["quote"] == "Fine"
    assert set(answer["included"]["media"]) == {str(image.pk)}
    others = [module for module in answer["data"][0]["modules"] if module not in modules]
    assert others
    assert all("posts" not in module for module in others)


def test_a_single_post_includes_the_same() -> None:
    post = make.post("English", slug="a", featuredMediaId=str(make.image().pk))
    german = make.post("Deutsch", locale="de", translation_of=post, slug="b")
    single = ApiClient().read(f"{LIST}/{post.pk}")

    found = ApiClient().read(f"{LIST}/{post.pk}?include=translations,media")
    sparse = ApiClient().read(f"{LIST}/{post.pk}?include=translations&fields=title")

    listed = ask("include=translations,media")
    assert found["included"] == listed["included"]
    assert set(found["included"]["posts"]) == {str(german.pk)}
    assert set(found) == {*single, "included"}
    assert set(sparse) == {"title", "translations", "included"}


def test_a_variation_includes_what_it_shows() -> None:
    admin, first, second = make.actor("admin"), make.image(), make.image("second.png")
    listed = make.post("Listed", slug="listed")
    page = make.post("Page", type="page", slug="page", featuredMediaId=str(first.pk))
    below = make.post("Below", type="page", slug="below", parentId=str(page.pk))
    variation = create_variation(post_id=page.pk, variation="B", actor=admin)
    make.edited(variation, {"featuredMediaId": str(second.pk)})
    make.added_module(variation, type="blog-list", props={"count": 1})
    change_variation(post_id=page.pk, variation_id=variation.pk, actor=admin, running=True)
    query = "variation=B&include=media,children,modules.posts"

    found = ApiClient().read(f"{LIST}/{page.pk}?{query}")
    resolved = ApiClient().read(f"/api/public/resolve?path=/page&{query}")
    original = ApiClient().read(f"{LIST}/{page.pk}?include=media,modules.posts")

    [module] = [one for one in found["modules"] if one["type"] == "blog-list"]
    assert module["posts"] == [str(listed.pk)]
    assert set(found["included"]["media"]) == {str(second.pk)}
    assert set(found["included"]["posts"]) == {str(listed.pk), str(below.pk)}
    assert resolved["included"] == found["included"]
    assert resolved["post"]["modules"] == found["modules"]
    assert set(original["included"]["media"]) == {str(first.pk)}
    assert original["included"]["posts"] == {}


def test_paths_lead_on_to_a_bounded_depth() -> None:
    image = make.image()
    top = make.post("Top", type="page", slug="top")
    middle = make.post("Middle", type="page", slug="middle", parentId=str(top.pk))
    low = make.post(
        "Low", type="page", slug="low", parentId=str(middle.pk), featuredMediaId=str(image.pk)
    )

    flat = ask(f"ids={top.pk}&include=children")["included"]
    deep = ask(f"ids={top.pk}&include=children.children.media")["included"]
    up = ask(f"ids={low.pk}&include=parent.parent")["included"]

    assert (set(flat["posts"]), flat["media"]) == ({str(middle.pk)}, {})
    assert set(deep["posts"]) == {str(middle.pk), str(low.pk)}
    assert deep["posts"][str(middle.pk)]["children"] == [str(low.pk)]
    assert set(deep["media"]) == {str(image.pk)}
    assert set(up["posts"]) == {str(middle.pk), str(top.pk)}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("include=author", "invalid"),
        ("include=", "invalid"),
        ("include=media.parent", "invalid"),
        ("include=parent.modules.posts", "invalid"),
        ("include=modules", "invalid"),
        ("include=children.", "invalid"),
        ("include=Media", "invalid"),
        ("include=parent.parent.parent.parent", "cost_exceeded"),
        ("include=children.children.children", "cost_exceeded"),
        ("per_page=100&include=children.children,children.media", "cost_exceeded"),
        ("include=" + ",".join(["media"] * 100), "cost_exceeded"),
        ("include=" + "parent." * 10_000 + "parent", "cost_exceeded"),
    ],
)
def test_what_is_unknown_or_too_dear_is_refused(query: str, code: str) -> None:
    post = make.post()

    answer = ask(query, expect=422)

    assert (list(answer["details"]), answer["code"]) == (["include"], code)
    if "per_page" not in query and "children" not in query:
        ApiClient().read(f"{LIST}/{post.pk}?{query}", expect=422)


def test_more_posts_than_an_answer_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("content.presenters.related_content.MAX_POSTS", 2)
    top = make.post("Top", type="page", slug="top")
    for number in range(3):
        make.post(str(number), type="page", slug=f"p{number}", parentId=str(top.pk))

    answer = ask(f"ids={top.pk}&include=children", expect=422)

    assert (list(answer["details"]), answer["code"]) == (["include"], "cost_exceeded")


def test_a_hundred_posts_may_include_every_relation_once() -> None:
    make.post()

    ask("per_page=100&include=media,terms,parent,children,translations,modules.posts")


def test_threat_09_nothing_that_is_not_live_is_included() -> None:
    canary = "zeppelin"
    top = make.post("Top", type="page", slug="top")
    post = make.post("Middle", type="page", slug="middle", parentId=str(top.pk))
    make.post(canary, type="page", slug="draft", parentId=str(post.pk), status="draft")
    make.post(canary, type="page", locale="de", translation_of=post, slug="entwurf", status="draft")
    staged_image = make.image(f"{canary}.png", alt_text=canary)
    make.staged(
        post, {"featuredMediaId": str(staged_image.pk), "title": canary}, layer=Layer.REVIEW
    )
    gone = make.post(canary, type="testimonial", slug="gone")
    make.added_module(post, type="testimonial-list", props={"postIds": [str(gone.pk)]})
    ApiClient("editor").write("DELETE", f"/api/posts/{gone.pk}")
    Post.objects.filter(pk=top.pk).update(status="archived", title=canary)
    rebuild_references()

    answer = ApiClient("admin").get(
        f"{LIST}?type=page&include=media,terms,parent,children,translations,modules.posts"
    )

    assert answer.status_code == 200
    assert canary.encode() not in answer.content
    assert answer.json()["included"] == {"posts": {}, "media": {}, "terms": {}}


def test_the_number_of_statements_does_not_grow_with_the_posts() -> None:
    term, image = make.term("Soil"), make.image()
    make.post("Blog", slug="blog")
    top = make.post("Top", type="page", slug="top")

    def fill(begin: int, end: int) -> None:
        for number in range(begin, end):
            page = make.post(
                f"Page {number}", type="page", slug=f"page-{number}", parentId=str(top.pk),
                featuredMediaId=str(image.pk),
            )  # fmt: skip
            page.post_terms.create(term=term)
            make.added_module(page, type="blog-list", props={"count": 2})
            make.post(
                f"Seite {number}",
                type="page",
                locale="de",
                translation_of=page,
                slug=f"seite-{number}",
            )

    def cost() -> int:
        answers.clear()
        query = (
            "type=page&per_page=50&include=media,terms,parent,children,translations,modules.posts"
        )
        return count_queries(ask, query)

    fill(0, 2)
    few = cost()
    fill(2, 9)

    # The version, the count, the page, its modules; then the relations of the page (their owners, children,
    # translations, lists), the included posts, the terms and the files.
    assert few == cost() <= 11
    assert count_queries(ask, "type=page&include=terms") <= 7


def test_a_kept_answer_follows_what_it_includes() -> None:
    term = make.term("Soil")
    top = make.post("Top", type="page", slug="top")
    page = make.post("Page", type="page", slug="page", parentId=str(top.pk))
    page.post_terms.create(term=term)
    query = f"ids={page.pk}&include=parent,terms"
    ask(query)

    make.edited(top, {"title": "Renamed"})
    ApiClient("admin").write("PATCH", f"/api/taxonomy-terms/{term.pk}", {"name": "Earth"})

    included = ask(query)["included"]
    assert included["posts"][str(top.pk)]["title"] == "Renamed"
    assert [one["name"] for one in included["terms"].values()] == ["Earth"]
