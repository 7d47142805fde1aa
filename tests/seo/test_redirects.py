"""Redirects: resolution, reading and writing."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from proofroom.core.errors import CmsError, NotAllowed, NotFound
from seo.middleware import hits
from seo.models import NewRedirect, Redirect, RedirectChanges
from seo.services.redirects import change_redirect, create_redirect, delete_redirect
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.content.at_once import at_once, while_under_way
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


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_redirects_made_at_once_close_no_loop() -> None:
    actor = make.actor()

    results = at_once(
        lambda: create_redirect(actor=actor, redirect=NewRedirect(from_path="/a", to_path="/b")),
        lambda: create_redirect(actor=actor, redirect=NewRedirect(from_path="/b", to_path="/a")),
    )

    codes = [result.code for result in results if isinstance(result, CmsError)]
    assert codes == ["redirect_loop"]
    assert Redirect.objects.count() == 1


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_changes_of_one_redirect_both_stand() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    while_under_way(
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(active=False)
        ),
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    row.refresh_from_db()
    assert (row.is_active, row.to_path) == (False, "/c")


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_a_deleted_redirect_does_not_come_back() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    answer = while_under_way(
        lambda: delete_redirect(redirect_id=row.pk, actor=actor),
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    assert isinstance(answer, NotFound)
    assert not Redirect.objects.exists()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_at_once_a_change_loses_no_hit() -> None:
    actor = make.actor()
    row = make.redirect("/a", "/b")

    def counted() -> None:
        hits.add(row.pk)

    while_under_way(
        counted,
        lambda: change_redirect(
            redirect_id=row.pk, actor=actor, changes=RedirectChanges(to_path="/c")
        ),
    )

    row.refresh_from_db()
    assert (row.hits, row.to_path) == (1, "/c")


def test_addresses_have_one_form() -> None:
    row = make.redirect("/de/caf%C3%A9/", "http://127.0.0.1:8000/de/x")

    assert (row.from_path, row.to_path, row.locale) == ("/de/café", "/de/x", "de")
    assert make.redirect("/en/old", "/").from_path == "/old"


def test_chains_are_collapsed_at_both_ends() -> None:
    make.redirect("/a", "/b")
    make.redirect("/c", "https://shop.example/x")
    make.redirect("/b", "/c")

    assert leads() == {
        "/a": "https://shop.example/x",
        "/b": "https://shop.example/x",
        "/c": "https://shop.example/x",
    }


@pytest.mark.parametrize(
    ("from_path", "to_path"),
    [
        ("/a", "/a"),
        ("/a", "/a/"),
        ("/a", "/a?x=1#y"),
        ("/a", "/en/a"),
        ("/a", "/%61"),
        ("/a", "http://127.0.0.1:8000/a"),
        ("/b", "/a"),
        ("/c", "/a?x=1"),
    ],
)
def test_threat_54_a_loop_is_refused(from_path: str, to_path: str) -> None:
    if from_path != "/a":
        make.redirect("/a", from_path)
    before = leads()

    answer = refused(
        "POST",
        "/api/redirects",
        {"fromPath": from_path, "toPath": to_path},
        422,
        "redirect_loop",
        "toPath",
    )

    assert from_path in answer["error"]
    assert leads() == before


@pytest.mark.parametrize(
    "to_path",
    [
        "//evil.example",
        "/%2F/evil.example\\",
        "\\\\evil.example",
        "/\\evil.example",
        "/x\r\nSet-Cookie: a=b",
        "/x%0d%0aSet-Cookie: a=b",
        "/%5Cevil.example",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        " javascript:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b.example",
        "http:evil",
        "https:///evil",
        "http://[evil",
        "x",
        "?x",
        "/" + "x" * 2000,
    ],
)
def test_threat_54_only_this_site_and_web_addresses_are_targets(to_path: str) -> None:
    refused(
        "POST", "/api/redirects", {"fromPath": "/a", "toPath": to_path}, 422, "invalid", "toPath"
    )

    assert Redirect.objects.count() == 0


@pytest.mark.parametrize(
    "from_path",
    [
        "x",
        "//evil.example",
        "/a?b",
        "/a#b",
        "/a\\b",
        "/a%0ab",
        "/%ff",
        "/admin/x",
        "/api/posts",
        "/static/x.css",
        "/" + "x" * 2000,
        "https://evil.example/x",
    ],
)
def test_only_addresses_of_the_site_lead_on(from_path: str) -> None:
    refused(
        "POST",
        "/api/redirects",
        {"fromPath": from_path, "toPath": "/b"},
        422,
        "invalid",
        "fromPath",
    )

    assert Redirect.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"fromPath": "/a", "toPath": "/b", "type": 303}, "type"),
        ({"fromPath": "/a", "toPath": "/b", "type": True}, "type"),
        ({"fromPath": "/a", "toPath": "/b", "active": "yes"}, "active"),
        ({"fromPath": 1, "toPath": "/b"}, "fromPath"),
        ({"toPath": "/b"}, "fromPath"),
        ({"fromPath": "/a", "toPath": None}, "toPath"),
        ({"fromPath": "/a\x00", "toPath": "/b"}, "fromPath"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(body: dict[str, Any], key: str) -> None:
    refused("POST", "/api/redirects", body, 422, "invalid", key)


def test_an_address_leads_to_one_place_and_never_away_from_a_page() -> None:
    make.redirect("/a", "/b")
    post = make.post()

    for from_path, code in (("/a/", "redirect_exists"), (post.path, "path_in_use")):
        body = {"fromPath": from_path, "toPath": "/c"}
        refused("POST", "/api/redirects", body, 422, code, "fromPath")
    assert leads() == {"/a": "/b"}


def test_agents_and_translators_change_no_redirects() -> None:
    for actor in (make.mcp_actor("admin"), make.agent_actor(), make.actor("translator")):
        with pytest.raises(NotAllowed):
            create_redirect(actor=actor, redirect=NewRedirect(from_path="/a", to_path="/b"))
    assert leads() == {}
