"""Frontends and their hosts read the redirects that the site follows, with every value quoted or encoded."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client

from content.models import Post
from content.posts.publish import set_status
from seo.models import Redirect
from seo.redirect_paths import key_of
from seo.redirect_rules import netlify_rule, nginx_rule
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
REDIRECTS = "/api/public/redirects"
HOSTILE = (
    "/a b",
    '/a"b',
    "/a\\b",
    "/a;b{}",
    "/a\nb /evil 301",
    "/a$host",
    "/a*",
    "/:splat",
    "/ä漢",
    "/a#b",
)


def text(format: str) -> str:
    answer = Client().get(f"{REDIRECTS}?format={format}")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
    return answer.content.decode()


def test_active_redirects_are_listed_in_pages() -> None:
    make.post(slug="coffee")
    make.redirect("/old", "/blog/coffee")
    make.redirect("/de/alt", "https://shop.example/x?a=1", type=302)
    make.redirect("/off", "/blog/coffee", active=False)
    make.redirect("/blog/later", "/blog/coffee")
    make.post(slug="later")

    found = ApiClient().read(REDIRECTS)

    assert found["data"] == [
        {
            "fromPath": "/de/alt",
            "toPath": "https://shop.example/x?a=1",
            "type": 302,
            "locale": "de",
        },
        {"fromPath": "/old", "toPath": "/blog/coffee", "type": 301, "locale": "en"},
    ]
    assert found["meta"]["total"] == 2
    second = ApiClient().read(f"{REDIRECTS}?per_page=1&page=2")
    assert [row["fromPath"] for row in second["data"]] == ["/old"]
    assert count_queries(ApiClient().read, f"{REDIRECTS}?per_page=3") == 3


def test_the_text_formats_have_all_of_them() -> None:
    for number in range(150):
        make.redirect(f"/old-{number:03}", f"/new-{number:03}")

    assert text("netlify").splitlines()[:2] == ["/old-000 /new-000 301", "/old-001 /new-001 301"]
    assert text("nginx").splitlines()[0] == (
        'location = "/old-000" { return 301 "/new-000$is_args$args"; }'
    )
    assert len(text("netlify").splitlines()) == len(text("nginx").splitlines()) == 150
    ApiClient().read(f"{REDIRECTS}?format=apache", expect=422)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_value_is_read_as_more_than_a_value(hostile: str) -> None:
    line, location = netlify_rule(hostile, hostile, 301), nginx_rule(hostile, hostile, 301)

    parts = line.split(" ")
    assert (len(parts), line.count("\n"), parts[2]) == (3, 1, "301\n")
    assert unquote(parts[0]) == hostile
    assert not set(parts[0]) & set(':*"$;{}#\\')
    assert not set(parts[1]) & set(':*"$;{}\\')
    quoted = r'"(?:[^"\\\n]|\\["\\nrt])*"'
    assert re.fullmatch(f"location = {quoted} {{ return 301 {quoted}; }}\n", location)
    target = location.rsplit(" return 301 ", 1)[1].replace("$is_args$args", "")
    assert "$" not in target


def test_values_stored_by_hand_are_encoded_too() -> None:
    for number, path in enumerate(HOSTILE):
        Redirect.objects.create(
            from_path=path, from_key=key_of(path), to_path=f"https://x.example{path}", locale="en",
            type=302 if number % 2 else 301,
        )  # fmt: skip

    assert len(text("netlify").splitlines()) == len(HOSTILE)
    assert len(text("nginx").splitlines()) == len(HOSTILE)


def test_a_new_redirect_is_in_the_next_answer() -> None:
    def paths(format: str) -> Any:
        return text(format).count("\n")

    assert paths("netlify") == 0
    make.redirect("/old", "/new")
    assert paths("netlify") == paths("nginx") == 1
    assert Client().get(f"{REDIRECTS}?format=nginx")["ETag"]


def test_no_redirect_tells_the_new_address_of_a_hidden_post() -> None:
    post = make.post(slug="old")
    make.redirect("/promo", "/blog/old")
    set_status(post_id=post.pk, status="draft", actor=make.actor("admin"))
    make.edited(post, {"slug": "secret-merger"})

    assert ApiClient().read(REDIRECTS)["data"] == []
    assert "secret" not in text("netlify") + text("nginx")
    for path in ("/blog/old", "/promo"):
        ApiClient().read(f"/api/public/resolve?path={path}", expect=404)
        assert Client().get(path).status_code == 404
    many = ApiClient().send("post", "/api/public/resolve", {"paths": ["/blog/old"]}).json()
    assert many["data"] == {"/blog/old": {"type": "not_found"}}

    set_status(post_id=post.pk, status="published", actor=make.actor("admin"))

    assert [row["toPath"] for row in ApiClient().read(REDIRECTS)["data"]] == [post_path(post)] * 2
    assert Client().get("/promo").headers["Location"] == "/blog/secret-merger"


def post_path(post: Post) -> str:
    post.refresh_from_db()
    return post.path
