"""Running variations in the delivery API: clients see them, and get each at the place of its original."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from proofroom.core.caching.answer_cache import answers
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def varied(post: Post, name: str, *, weight: int = 30, running: bool = True) -> Post:
    actor = make.actor()
    made = create_variation(post_id=post.pk, variation=name, actor=actor, weight=weight)
    make.edited(made, {"title": f"Title of {name}"})
    return change_variation(
        post_id=post.pk, variation_id=made.pk, actor=actor, running=running or None
    )


def read(post: Post, query: str = "") -> Any:
    return ApiClient().read(f"/api/public/posts/{post.pk}{query}")


def test_a_post_names_what_runs_and_only_then() -> None:
    post = make.post(slug="coffee")
    varied(post, "D", running=False)
    assert not {"variations", "variation", "variationOf"} & set(read(post))
    c, b = varied(post, "C", weight=10), varied(post, "B")

    found = read(post)
    resolved = ApiClient().read("/api/public/resolve?path=/blog/coffee")

    assert found["variations"] == [
        {"id": str(b.pk), "variation": "B", "weight": 30},
        {"id": str(c.pk), "variation": "C", "weight": 10},
    ]
    assert resolved["post"] == found
    assert found["title"] == post.title
    assert read(post, "?fields=variations") == {"variations": found["variations"]}
    assert "variations" not in ApiClient().read("/api/public/posts")["data"][0]


def test_one_that_runs_is_delivered_in_the_place_of_its_original() -> None:
    post = make.post(slug="coffee", canonicalUrl="https://example.com/coffee")
    german = make.post(locale="de", translation_of=post, slug="kaffee")
    made = varied(post, "B")
    original = read(post)

    found = read(post, "?variation=B")

    assert (found["id"], found["variationOf"], found["variation"]) == (
        str(made.pk), str(post.pk), "B",
    )  # fmt: skip
    assert found["title"] == "Title of B"
    same = ["url", "slug", "status", "canonicalUrl", "publishedAt", "translations", "robotsJson"]
    assert {name: found[name] for name in same} == {name: original[name] for name in same}
    assert found["translations"] == [{"id": str(german.pk), "locale": "de"}]
    ids = {module["postModuleId"] for module in found["modules"]}
    assert ids.isdisjoint(module["postModuleId"] for module in original["modules"])
    resolved = ApiClient().read("/api/public/resolve?path=/blog/coffee&variation=B")
    assert resolved["post"] == found


def test_what_does_not_run_is_never_delivered() -> None:
    post = make.post()
    idle = varied(post, "C", running=False)
    varied(post, "B")
    original = read(post)

    for query in ("?variation=A", "?variation=C", "?variation=Z", "?variation="):
        assert read(post, query) == original
    client = ApiClient()
    assert client.get(f"/api/public/posts/{idle.pk}").status_code == 404
    assert client.get(f"/api/public/posts/{idle.pk}?variation=C").status_code == 404
    for name in ("B C", "%00", "x" * 41, "-B", "B%0a"):
        refused = client.get(f"/api/public/posts/{post.pk}?variation={name}")
        assert refused.status_code == 422
        assert list(refused.json()["details"]) == ["variation"]


def test_what_stops_is_not_delivered_any_more() -> None:
    post = make.post()
    made = varied(post, "B")
    client, path = ApiClient(), f"/api/public/posts/{post.pk}?variation=B"
    etag = client.get(path)["ETag"]
    assert client.get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304

    change_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(), running=False)

    after = client.get(path, HTTP_IF_NONE_MATCH=etag)
    assert (after.status_code, after.json()["title"]) == (200, post.title)


def test_it_costs_a_post_without_a_test_no_statement_more() -> None:
    def cost(query: str = "") -> int:
        answers.clear()
        with CaptureQueriesContext(connection) as caught:
            read(post, query)
        return len(caught)

    post = make.post()
    plain = cost()
    varied(post, "B")

    assert (cost(), cost("?variation=B")) == (plain, plain + 1)
