"""Valid sources and targets of redirects: one URL form, no chains, no loops, no other schemes."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.errors import NotAllowed
from seo.models import NewRedirect, Redirect
from seo.services.redirects import create_redirect
from tests import make
from tests.api.refusals import refused
from tests.seo.leading import leads

pytestmark = pytest.mark.django_db


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
