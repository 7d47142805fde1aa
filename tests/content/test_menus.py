"""Menus: public output, valid entries, and permissions."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from content.models import Post
from content.posts.trash import delete_post
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import CmsError, NotAllowed
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.content.at_once import at_once

pytestmark = pytest.mark.django_db


def menu(*items: Any, slug: str = "main", locale: str = "en") -> Menu:
    return create_menu(
        actor=make.actor(), name=slug.capitalize(), slug=slug, locale=locale, items=list(items)
    )


def to(post: Post, label: str = "", **more: Any) -> dict[str, Any]:
    return {"label": label, "type": "post", "postId": str(post.pk), **more}


def shown(query: str = "", slug: str = "main") -> list[tuple[str, str]]:
    answer = ApiClient().read(f"/api/menus/{slug}{query}")
    return [(item["label"], item["url"]) for item in answer["items"]]


def test_both_addresses_answer_the_menu() -> None:
    row = menu(
        {"id": "home", "label": "Home", "url": "/", "children": [{"id": "b", "label": "Blog"}]}
    )

    found = ApiClient().read("/api/menus/by-slug/main")

    assert found == ApiClient().read("/api/menus/main?locale=en")
    assert found == {
        "id": str(row.pk),
        "name": "Main",
        "slug": "main",
        "locale": "en",
        "items": [
            {
                "id": "home",
                "label": "Home",
                "type": "custom",
                "url": "/",
                "children": [
                    {"id": "b", "label": "Blog", "type": "custom", "url": "", "children": []}
                ],
            }
        ],
    }


def test_an_item_of_a_post_follows_its_address_and_its_translation() -> None:
    post = make.post("Coffee", slug="coffee")
    make.post("Kaffee", slug="kaffee", locale="de", translation_of=post)
    menu(to(post), to(post, "Own words"))

    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"slug": "tea", "title": "Tea"})

    assert shown() == [("Tea", "/blog/tea"), ("Own words", "/blog/tea")]
    assert shown("?locale=de") == [("Kaffee", "/de/blog/kaffee"), ("Own words", "/de/blog/kaffee")]


def test_a_locale_without_the_menu_has_that_of_the_default_locale() -> None:
    menu({"label": "Contact", "url": "/contact"})
    assert shown("?locale=de") == [("Contact", "/contact")]

    menu({"label": "Kontakt", "url": "/de/kontakt"}, locale="de")

    assert shown("?locale=de") == [("Kontakt", "/de/kontakt")]
    assert shown() == [("Contact", "/contact")]
    only = menu({"label": "Nur", "url": "/"}, slug="only", locale="de")
    ApiClient().read(f"/api/menus/{only.slug}", expect=404)
    ApiClient().read("/api/menus/main?locale=xx", expect=422)


@pytest.mark.parametrize("state", ["draft", "archived", "trash", "placeholder"])
def test_threat_16_a_menu_never_names_what_is_not_published(state: str) -> None:
    post = make.post("A secret title", slug="a-secret", status="draft")
    if state == "trash":
        menu(to(post), {"label": "Home", "url": "/"})
        delete_post(post_id=post.pk, actor=make.actor("admin"))
    else:
        values = {"is_placeholder": True, "status": "published"}
        Post.objects.filter(pk=post.pk).update(
            **(values if state == "placeholder" else {"status": state})
        )
        menu(to(post), {"label": "Home", "url": "/"})
    visitor = ApiClient()

    for path in ("/api/menus/main", "/api/menus/by-slug/main?locale=de", "/nothing-here"):
        content = visitor.get(path).content
        for word in (b"A secret title", b"a-secret", str(post.pk).encode()):
            assert word not in content, path
    assert shown() == [("Home", "/")]


def test_threat_16_a_breadcrumb_leaves_out_a_parent_that_is_not_published() -> None:
    parent = make.post("A secret title", type="page", slug="above", status="draft")
    child = make.post("Below", type="page", slug="below", parentId=str(parent.pk))

    content = ApiClient().get(child.path).content

    assert b"Below" in content
    assert b"A secret title" not in content


def test_a_menu_is_cached_until_it_or_a_post_changes() -> None:
    post = make.post("Coffee", slug="coffee")
    row = menu(to(post))
    client = ApiClient()
    first = client.get("/api/menus/by-slug/main")

    assert first["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert "Vary" not in first
    assert "X-RateLimit-Limit" in first
    assert first["X-RateLimit-Limit"] == "600"
    again = client.get("/api/menus/by-slug/main", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")

    ApiClient("editor").write("PUT", f"/api/menus/{row.pk}", {"items": []})

    assert shown() == []
    assert content_version() > 0
    changed = client.get("/api/menus/by-slug/main", HTTP_IF_NONE_MATCH=first["ETag"])
    assert changed.status_code == 200


@pytest.mark.parametrize(
    ("slug", "is_named"), [("other", True), ("a,b", False), ("Other", False), ("x" * 200, False)]
)
def test_a_missing_menu_names_its_tag_if_it_could_exist(slug: str, is_named: bool) -> None:
    answer = ApiClient().get(f"/api/menus/by-slug/{slug}")

    assert answer.status_code == 404
    tags = answer["Cache-Tag"].split(",")
    assert [tag for tag in tags if tag.startswith("menu:")] == (["menu:other"] if is_named else [])


def test_what_is_written_is_not_kept() -> None:
    row = menu({"label": "Home", "url": "/"})

    answer = ApiClient("editor").send("PUT", f"/api/menus/{row.pk}", {"name": "Top"})

    assert answer["Cache-Control"] == "no-store"
    assert answer["X-RateLimit-Limit"] == "1000"
    assert Menu.objects.get().name == "Top"


def test_what_was_read_can_be_put_back() -> None:
    post = make.post(slug="coffee")
    row = menu(to(post, "Coffee", children=[{"label": "Home", "url": "/"}]))
    client = ApiClient("editor")
    [read] = client.read("/api/menus")["data"]

    same = client.write("PUT", f"/api/menus/{row.pk}", read)

    assert same["items"] == read["items"]
    assert (read["version"], same["version"]) == (1, 2)
    assert read["items"][0]["url"] == "/blog/coffee"
    assert client.write("PUT", f"/api/menus/{row.pk}", read, expect=409)["version"] == 2


def test_a_post_that_went_does_not_block_another_change() -> None:
    post = make.post(slug="coffee")
    row = menu(to(post, "Coffee"))
    delete_post(post_id=post.pk, actor=make.actor("admin"))

    change_menu(menu_id=row.pk, actor=make.actor(), items=[*row.items, {"label": "x", "url": "/"}])

    assert shown() == [("x", "/")]


BAD_ITEMS = [
    ("x", "items"),
    ([1], "items"),
    ([{}], "items.0.label"),
    ([{"label": " "}], "items.0.label"),
    ([{"label": 1}], "items.0.label"),
    ([{"label": "x" * 201}], "items.0.label"),
    ([{"label": "x\ny"}], "items.0.label"),
    ([{"label": "x", "type": "page"}], "items.0.type"),
    ([{"label": "x", "type": ["post"]}], "items.0.type"),
    ([{"label": "x", "evil": 1}], "items.0.evil"),
    ([{"label": "x", "id": ""}], "items.0.id"),
    ([{"label": "x", "id": "a b"}], "items.0.id"),
    ([{"label": "x", "id": 1}], "items.0.id"),
    ([{"label": "x", "id": "a"}, {"label": "y", "id": "a"}], "items.1.id"),
    ([{"label": "x", "children": {}}], "items.0.children"),
    ([{"label": "x", "children": [{"label": ""}]}], "items.0.children.0.label"),
    ([{"label": "x", "url": None}], "items.0.url"),
    ([{"label": "x", "url": "/" + "x" * 2000}], "items.0.url"),
    ([{"label": "x", "type": "post"}], "items.0.postId"),
    ([{"label": "x", "type": "post", "postId": "no"}], "items.0.postId"),
    ([{"label": "x", "type": "post", "postId": 7}], "items.0.postId"),
    ([{"label": "x", "type": "post", "postId": str(uuid4())}], "items.0.postId"),
    ([{"label": "x", "children": [{"type": "post", "postId": str(uuid4())}]}],
     "items.0.children.0.postId"),
    ([{"label": str(n)} for n in range(501)], "items"),
    ([{"label": "x", "children": [{"label": str(n)} for n in range(500)]}], "items"),
]  # fmt: skip


@pytest.mark.parametrize(("items", "key"), BAD_ITEMS)
def test_items_that_do_not_fit_are_refused(items: Any, key: str) -> None:
    body = {"name": "Main", "slug": "main", "items": items}
    answer = ApiClient("editor").write("POST", "/api/menus", body, expect=422)

    assert any(path == key or path.startswith(f"{key}.") for path in answer["details"]), answer
    assert Menu.objects.count() == 0


def nested(levels: int) -> dict[str, Any]:
    item: dict[str, Any] = {"label": "x"}
    for _ in range(levels - 1):
        item = {"label": "x", "children": [item]}
    return item


def test_five_levels_are_the_most() -> None:
    menu(nested(5))
    body = {"name": "Main", "slug": "deep", "items": [nested(6)]}

    refused("POST", "/api/menus", body, 422, "invalid", "items.0" + ".children.0" * 4 + ".children")

    assert Menu.objects.count() == 1
    deepest: Any = ApiClient().read("/api/menus/main")["items"]
    for _ in range(4):
        deepest = deepest[0]["children"]
    assert deepest[0]["label"] == "x"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " JaVaScript:alert(1)",
        "java\tscript:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "\\\\evil.example",
        "/\\evil.example",
        "https:evil",
    ],
)
def test_threat_29_no_item_carries_a_dangerous_address(url: str) -> None:
    body = {"name": "Main", "slug": "main", "items": [{"label": "x", "url": url}]}

    refused("POST", "/api/menus", body, 422, "invalid", "items.0.url")

    assert Menu.objects.count() == 0
    Menu.objects.create(
        slug="old", locale="en", name="Old", items=[{"label": "x", "type": "custom", "url": url}]
    )
    assert shown(slug="old") == [("x", "")]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x\x00"}, "name"),
        ({"slug": "Main"}, "slug"),
        ({"slug": "a/b"}, "slug"),
        ({"slug": "x" * 101}, "slug"),
        ({"locale": "xx"}, "locale"),
        ({"version": True}, "version"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(change: dict[str, Any], key: str) -> None:
    body = {"name": "Main", "slug": "main", "locale": "en", "items": [], **change}

    refused("POST", "/api/menus", body, 422, "invalid", key)
    assert Menu.objects.count() == 0


def test_there_is_one_menu_of_a_slug_and_locale() -> None:
    menu({"label": "x", "url": "/"})
    other = menu(slug="other")

    body = {"name": "Main", "slug": "main"}
    refused("POST", "/api/menus", body, 422, "slug_taken", "slug")
    refused("PUT", f"/api/menus/{other.pk}", {"slug": "main"}, 422, "slug_taken", "slug")


def test_threat_06_an_id_of_another_object_is_no_menu() -> None:
    post = make.post()
    menu()
    editor = ApiClient("editor")

    for id_ in (post.pk, "main", "1", "%00"):
        editor.write("PUT", f"/api/menus/{id_}", {"name": "x"}, expect=404)
        editor.write("DELETE", f"/api/menus/{id_}", expect=404)
    assert Menu.objects.get().name == "Main"


def test_only_people_with_the_right_change_menus() -> None:
    row = menu()
    for actor in (make.mcp_actor("admin"), make.agent_actor(), make.actor("translator")):
        with pytest.raises(NotAllowed):
            change_menu(menu_id=row.pk, actor=actor, name="x")
    assert Menu.objects.get().name == "Main"


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_menus_made_at_once_are_one() -> None:
    actor = make.actor()

    def work() -> object:
        return create_menu(actor=actor, name="Main", slug="main", locale="en")

    results = at_once(work, work)

    assert sum(isinstance(result, Menu) for result in results) == 1
    assert [result.code for result in results if isinstance(result, CmsError)] == ["slug_taken"]
    assert Menu.objects.count() == 1
