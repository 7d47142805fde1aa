"""Undeclared query parameters: refused by lists of the management API and by the delivery API, otherwise ignored."""

from __future__ import annotations

from typing import Any, Final

import pytest

from proofroom_apps.menus.services import create_menu
from tests import make
from tests.api_client import ApiClient
from tests.api_description import management_lists, plain
from tests.contract.endpoint import Area, Endpoint, areas, filled

pytestmark = pytest.mark.django_db
TRACKING: Final = "utm_source=news&gclid=1&fbclid=2&msclkid=4&mc_cid=5&_=3"


LISTS: Final = management_lists()
READS: Final = [
    (area, endpoint)
    for area in areas()
    for endpoint in area.endpoints
    if endpoint.method == "GET" and plain(endpoint.path) in LISTS and endpoint.answers == 200
]


def test_every_list_is_walked() -> None:
    assert {plain(endpoint.path) for _, endpoint in READS} == set(LISTS)
    assert len(LISTS) >= 40


@pytest.mark.parametrize(
    ("area", "endpoint"), READS, ids=[endpoint.address for _, endpoint in READS]
)
def test_a_list_refuses_what_it_does_not_declare(area: Area, endpoint: Endpoint) -> None:
    names, admin = area.scene(), ApiClient("admin")
    path = filled(endpoint.path + endpoint.query, names)
    join = "&" if "?" in path else "?"
    known = LISTS[plain(endpoint.path)]

    answer = admin.read(f"{path}{join}utm_source=news&author__password=x", expect=422)

    # Campaigns append the first one.
    assert set(answer["details"]) == {"author__password"}
    assert answer["code"] == "invalid"
    admin.read(path)
    for name in known:
        # One letter is missing, and it is known which one was meant.
        wrong = name[:-1] if len(name) > 2 and name[:-1] not in known else f"{name}x"
        (sentence,) = admin.read(f"{path}{join}{wrong}=1", expect=422)["details"][wrong]
        assert sentence.endswith(f"Did you mean {name!r}?"), sentence


def test_a_wrong_name_lists_nothing_and_says_which_was_meant() -> None:
    make.post()

    answer = ApiClient("editor").read("/api/posts?typ=page", expect=422)

    assert list(answer["details"]) == ["typ"]
    assert answer["error"].endswith("Did you mean 'type'?")
    assert "known: type, locale," in answer["error"]


def test_who_may_not_is_told_that_first() -> None:
    assert ApiClient().get("/api/posts?typ=page").status_code == 401
    assert ApiClient("translator").get("/api/webhooks?typ=page").status_code == 403


@pytest.mark.parametrize("name", ["%00", "%ff", "a" * 5000, "[$ne]", "="])
def test_names_that_nobody_writes_by_mistake_are_told_too(name: str) -> None:
    answer = ApiClient("editor").read(f"/api/posts?{name}=1&page=1", expect=422)

    assert len(answer["details"]) == 1
    assert max(map(len, answer["details"])) <= 80


@pytest.mark.parametrize(
    "path",
    [
        "/api/public/posts",
        "/api/public/posts/{post}",
        "/api/public/resolve?path=/blog/kettle",
        "/api/menus/main?locale=en",
        "/api/menus/by-slug/main",
        "/api/forms-definitions/contact",
        "/blog/kettle",
        "/blog",
        "/search?q=kettle",
        "/blog/feed.xml",
        "/sitemap.xml",
        "/robots.txt",
    ],
)
def test_what_is_linked_to_ignores_what_links_carry(client: Any, path: str) -> None:
    post = make.post("Kettle", slug="kettle")
    make.form("contact")
    ApiClient("admin").write(
        "POST",
        "/api/menus",
        {"name": "Main", "slug": "main", "locale": "en", "items": []},
        expect=201,
    )
    path = path.format(post=post.pk)
    before = client.get(path)

    after = client.get(f"{path}{'&' if '?' in path else '?'}{TRACKING}")

    assert (before.status_code, after.status_code) == (200, 200)
    assert before.getvalue() == after.getvalue()


def test_what_is_no_list_ignores_them_as_well() -> None:
    post = make.post()

    assert ApiClient("editor").read(f"/api/posts/{post.pk}?utm_source=news")["id"] == str(post.pk)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/public/posts", "publishedAt[gte]"),
        ("/api/public/posts", "typ"),
        ("/api/public/posts", "author__password"),
        ("/api/public/posts", "filter[title][eq][x]"),
        ("/api/public/posts", "utmsource"),
        ("/api/public/posts/{post}", "field"),
        ("/api/public/posts/{post}", "page"),
        ("/api/public/terms", "taxonom"),
        ("/api/public/resolve?path=/blog/kettle", "paths"),
        ("/api/public/privacy", "local"),
        ("/api/menus/main", "local"),
        ("/api/menus/by-slug/main", "slug"),
    ],
)
def test_the_delivery_api_refuses_what_it_does_not_declare(path: str, name: str) -> None:
    post, client = make.post("Kettle", slug="kettle"), ApiClient()
    create_menu(actor=make.actor("admin"), name="Main", slug="main", locale="en", items=[])
    path = path.format(post=post.pk)
    join = "&" if "?" in path else "?"
    client.read(path)

    for query in (f"{name}=1", f"utm_source=x&{name}=1"):
        answer = client.read(f"{path}{join}{query}", expect=422)
        assert (answer["code"], list(answer["details"])) == ("invalid", [name])
    client.read(path)


def test_a_near_miss_says_what_was_meant() -> None:
    def sentence(query: str) -> str:
        return str(ApiClient().read(f"/api/public/posts?{query}=1", expect=422)["error"])

    assert sentence("publishedAt[gte]").endswith("Did you mean 'filter[publishedAt][gte]'?")
    assert sentence("typ").endswith("Did you mean 'type'?")
    assert sentence("orderin").endswith("Did you mean 'ordering'?")
