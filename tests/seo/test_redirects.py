"""Redirects: resolution, reading and writing."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from seo.models import Redirect
from tests import make
from tests.api_client import ApiClient
from tests.seo.leading import edit, leads, page

pytestmark = pytest.mark.django_db


def test_a_visitor_is_led_on_and_counted(client: Client) -> None:
    row = make.redirect("/old", "/blog/new", type=302)

    response = client.get("/old?utm=x")
    client.head("/old/")

    assert (response.status_code, response["Location"]) == (302, "/blog/new?utm=x")
    assert response["Cache-Control"] == "public, max-age=60"
    row.refresh_from_db()
    assert row.hits == 2
    assert client.post("/old").status_code == 405
    assert client.get("/older").status_code == 404


def test_an_inactive_redirect_leads_nowhere(client: Client) -> None:
    make.redirect("/old", "/new", active=False)

    assert client.get("/old").status_code == 404
    assert client.get("/api/public/resolve?path=/old").status_code == 404


def test_a_page_that_is_there_costs_no_look_up_and_a_miss_one(client: Client) -> None:
    post = make.post()

    def look_ups(path: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            client.get(path)
        return sum("seo_redirect" in query["sql"] for query in caught)

    assert look_ups(post.path) == 0
    assert look_ups("/nothing") == 1
    assert look_ups("/api/nothing") == 0


def test_resolve_answers_the_post_then_the_redirect() -> None:
    post = make.post(slug="here")
    make.redirect("/there", "/blog/here")
    client = ApiClient()

    found = client.read("/api/public/resolve?path=/blog/here")
    led = client.read("/api/public/resolve?path=/there")

    assert (found["type"], found["post"]["id"]) == ("post", str(post.pk))
    assert led == {"type": "redirect", "redirect": {"toPath": "/blog/here", "status": 301}}
    client.read("/api/public/resolve?path=/nowhere", expect=404)


def test_resolve_finds_a_post_by_every_form_of_its_address() -> None:
    tea = make.post(slug="tea", status="published")
    home = page("Home", "home")
    tee = make.post("Tee", slug="tee", locale="de", status="published")

    for path, post in (
        ("/blog/tea", tea),
        ("/blog/tea/", tea),
        ("/en/blog/tea", tea),
        ("/de/blog/tee/", tee),
        ("/", home),
        ("/en", home),
        ("/en/", home),
    ):
        answer = ApiClient().read(f"/api/public/resolve?path={path}")
        assert (path, answer["post"]["id"]) == (path, str(post.pk))


def test_resolve_forgets_a_redirect_that_was_deleted() -> None:
    row = make.redirect("/there", "/here")
    client = ApiClient()
    client.read("/api/public/resolve?path=/there")

    ApiClient("editor").write("DELETE", f"/api/redirects/{row.pk}")

    client.read("/api/public/resolve?path=/there", expect=404)


def test_what_was_read_can_be_put_back_and_changed() -> None:
    row = make.redirect("/a", "/b")
    client = ApiClient("editor")
    address = f"/api/redirects/{row.pk}"
    read = client.read(address)

    same = client.write("PUT", address, {**read, "hits": 99})
    changed = client.write("PUT", address, {"toPath": "/c", "type": 302, "active": False})

    assert {**same, "updatedAt": ""} == {**read, "updatedAt": ""}
    assert (changed["fromPath"], changed["toPath"], changed["type"]) == ("/a", "/c", 302)
    assert changed["active"] is False
    assert Redirect.objects.get().hits == 0


def test_the_list_is_filtered_and_paged() -> None:
    make.redirect("/spring", "/sale", type=302)
    make.redirect("/de/alt", "/de/neu", active=False)
    edit(make.post(slug="one"), slug="two")
    client = ApiClient("editor")

    def found(query: str) -> list[str]:
        return [row["fromPath"] for row in client.read(f"/api/redirects{query}")["data"]]

    assert found("") == ["/blog/one", "/de/alt", "/spring"]
    assert found("?search=SALE") == ["/spring"]
    assert found("?type=302") == ["/spring"]
    assert found("?automatic=true") == ["/blog/one"]
    assert found("?locale=de") == ["/de/alt"]
    assert found("?active=false&automatic=false") == ["/de/alt"]
    assert found("?per_page=1&page=3") == ["/spring"]
    for bad in ("type=1", "automatic=1", "locale=xx", "active=", f"search={'x' * 201}"):
        client.read(f"/api/redirects?{bad}", expect=422)


def test_find_and_replace_reaches_where_redirects_lead() -> None:
    make.redirect("/a", "https://old.example/x")
    make.redirect("/b", "/old.example/b")
    body = {"find": "old.example", "replace": "new.example", "tables": ["redirects"]}

    answer = ApiClient("admin").write("POST", "/api/database/find-replace", body)

    assert answer["tables"] == {"redirects": 2}
    assert leads() == {"/a": "https://new.example/x", "/b": "/new.example/b"}
    wrong = {"find": "https:", "replace": "javascript:", "tables": ["redirects"]}
    ApiClient("admin").write("POST", "/api/database/find-replace", wrong, expect=422)
    loop = {"find": "/new.example/b", "replace": "/b", "tables": ["redirects"]}
    ApiClient("admin").write("POST", "/api/database/find-replace", loop, expect=422)
    assert leads() == {"/a": "https://new.example/x", "/b": "/new.example/b"}
