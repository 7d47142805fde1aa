"""The delivery API: sparse fields, conditions, HEAD, and live content only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.http import http_date, parse_http_date

from content.api.delivery.posts import LISTED, WHOLE
from content.models import Layer, Post
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from proofroom.core.models import ContentVersion
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

LIST = "/api/public/posts"

NOT_ALWAYS = {"variations", "variationOf", "variation", "disclosure", "embeds"}
"""Fields of posts with a variation or an embed, and of types that disclose AI work."""


def one(post: Post, query: str = "") -> str:
    return f"{LIST}/{post.pk}{query}"


def an_hour_passes() -> None:
    """Advance the time, so that writes are older than a second."""
    ContentVersion.objects.update(moved_at=datetime.now(UTC) - timedelta(hours=1))


def test_only_the_fields_that_are_asked_for_are_answered_and_read() -> None:
    post = make.post()
    client = ApiClient()

    with CaptureQueriesContext(connection) as caught:
        found = client.read(one(post, "?fields=id,title,url"))
        listed = client.read(f"{LIST}?fields=title,id&per_page=1")

    assert found == {"id": str(post.pk), "title": post.title, "url": post.path}
    assert listed["data"] == [{"id": str(post.pk), "title": post.title}]
    assert listed["meta"]["total"] == 1
    assert not [query for query in caught if "content_postmodule" in query["sql"]]


def test_every_field_can_be_asked_for_alone_and_all_of_them_are_the_whole_answer() -> None:
    post = make.post(excerpt="Short")
    client = ApiClient()

    for path, names in ((one(post), WHOLE - NOT_ALWAYS), (LIST, LISTED)):
        whole = client.read(path)
        rows = [whole] if path != LIST else whole["data"]
        assert set(rows[0]) == set(names)
        for name in names:
            sparse = client.read(f"{path}?fields={name}")
            assert sparse == ({name: rows[0][name]} if path != LIST else whole | {
                "data": [{name: rows[0][name]}]
            })  # fmt: skip
        assert client.read(f"{path}?fields={','.join(sorted(names))}") == whole


@pytest.mark.parametrize(
    "fields",
    [
        "",
        ",",
        "id,",
        "password",
        "author",
        "author__password",
        "reviewProps",
        "modules.reviewProps",
        "layers",
        "publishAt",
        "search_text",
        "id;title",
        "ID",
        "__class__",
        "*",
        "id," * 400 + "id",
        "%00",
        "%F0%9F%A6%86",
    ],
)
def test_threat_18_a_field_that_is_not_on_the_list_is_refused(fields: str) -> None:
    post = make.post()

    for path in (LIST, one(post)):
        answer = ApiClient().read(f"{path}?fields={fields}", expect=422)
        assert list(answer["details"]) == ["fields"]


def test_a_wrong_field_is_named() -> None:
    answer = ApiClient().read(f"{LIST}?fields=id,author", expect=422)

    assert answer["error"].endswith("; 'author' is not one of them.")


def test_answers_with_and_without_fields_are_kept_apart() -> None:
    post = make.post()
    client = ApiClient()
    for _ in range(2):
        whole, sparse = client.get(one(post)), client.get(one(post, "?fields=id"))

        assert sparse.json() == {"id": str(post.pk)}
        assert set(whole.json()) == WHOLE - NOT_ALWAYS
        assert whole["ETag"] != sparse["ETag"]


def test_threat_09_no_combination_of_parameters_reaches_what_is_not_live() -> None:
    post = make.post("Kettle", excerpt="Plain")
    make.staged(post, {"title": "zeppelin", "excerpt": "zeppelin"})
    make.staged(post, {"metaTitle": "zeppelin"}, layer=Layer.REVIEW)
    make.post("A zeppelin in draft", slug="draft", status="draft")
    archived = make.post("An archived zeppelin", slug="archived")
    ApiClient("editor").write("PUT", f"/api/posts/{archived.pk}", {"status": "archived"})
    trashed = make.post("A zeppelin in the trash", slug="trashed")
    ApiClient("editor").write("DELETE", f"/api/posts/{trashed.pk}")
    parameters = [
        ("status=draft", "status=archived", ""),
        ("hasReview=true", "hasAiReview=false", ""),
        ("search=zeppelin", "slug=draft", "allLocales=true", ""),
        ("ordering=title", "ordering=-publishedAt", ""),
        ("fields=title,excerpt,modules", ""),
    ]

    for combination in product(*parameters):
        query = "&".join(filter(None, combination))
        for role in (None, "admin"):
            response = ApiClient(role).get(f"{LIST}?{query}")
            is_refused = "status" in query or "Review" in query
            assert response.status_code == (422 if is_refused else 200), query
            assert b"zeppelin" not in response.content.lower(), query
    ApiClient("admin").read(f"{LIST}?preview=1&draft=1&version=2", expect=422)
    for hidden in (archived, trashed):
        ApiClient("admin").read(one(hidden, "?fields=title"), expect=404)
        for query in ("?status=archived", "?layer=review"):
            ApiClient("admin").read(one(hidden, query), expect=422)
    assert b"zeppelin" not in ApiClient("admin").get(one(post, "?layer=ai-review")).content


@pytest.mark.parametrize("path", [LIST, "<one>", "<one>?fields=id"])
def test_a_date_answers_304_and_an_etag_wins_over_it(path: str) -> None:
    path = path.replace("<one>", one(make.post()))
    an_hour_passes()
    first = Client().get(path)
    date, etag = first["Last-Modified"], first["ETag"]
    before = http_date(datetime.now(UTC).timestamp() - 7200)

    def status(**headers: str) -> int:
        response = Client().get(path, headers=headers)
        if response.status_code == 304:
            assert (response.content, response["ETag"]) == (b"", etag)
            assert response["Last-Modified"] == date
            assert response["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
        return response.status_code

    assert status(if_modified_since=date) == 304
    assert status(if_modified_since=before) == 200
    assert status(if_modified_since="yesterday") == 200
    assert status(if_none_match=etag) == 304
    assert status(if_none_match=f'"other", W/{etag}') == 304
    assert status(if_none_match='"other"', if_modified_since=date) == 200
    assert status(if_none_match=etag, if_modified_since=before) == 304


def test_a_date_is_old_as_soon_as_live_content_moves_and_not_when_a_layer_does() -> None:
    post = make.post()
    an_hour_passes()
    date = Client().get(one(post))["Last-Modified"]
    make.staged(post, {"title": "Waits"})
    assert Client().get(one(post), headers={"if-modified-since": date}).status_code == 304

    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"title": "Moved"})
    moved = Client().get(one(post), headers={"if-modified-since": date})

    assert (moved.status_code, moved.json()["title"]) == (200, "Moved")


def test_two_changes_within_a_second_have_dates_of_their_own() -> None:
    post = make.post()
    moments = []
    for number in range(3):
        ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"title": f"Title {number}"})
        moments.append(ContentVersion.objects.get().moved_at)

    seconds = [int(moment.timestamp()) for moment in moments]
    assert len(set(seconds)) == 3
    assert seconds == sorted(seconds)
    # A future date is never answered.
    assert parse_http_date(Client().get(LIST)["Last-Modified"]) < datetime.now(UTC).timestamp()


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_threat_22_conditions_are_judged_after_the_question_whether_it_is_public(
    status: str,
) -> None:
    post = make.post()
    first = Client().get(one(post))
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"status": status})
    future = http_date(datetime.now(UTC).timestamp() + 86_400)
    absent = Client().get(f"{LIST}/00000000-0000-4000-8000-000000000000")

    for headers in (
        {"if-none-match": first["ETag"]},
        {"if-none-match": "*"},
        {"if-modified-since": first["Last-Modified"]},
        {"if-modified-since": future},
    ):
        for method in (Client().get, Client().head):
            response = method(one(post), headers=headers)
            assert response.status_code == 404
            assert not {"ETag", "Last-Modified"} & set(response.headers)
        told = Client().get(one(post), headers=headers).json()
        assert told["code"] == absent.json()["code"]


@pytest.mark.parametrize("query", ["", "?fields=id"])
def test_head_answers_the_headers_of_a_get(query: str) -> None:
    post = make.post()
    an_hour_passes()
    for path in (one(post, query), f"{LIST}{query}"):
        whole, head = Client().get(path), Client().head(path)
        again = Client().head(path, headers={"if-none-match": whole["ETag"]})

        def told(response: Any) -> list[str]:
            return [response[name] for name in ("ETag", "Last-Modified", "Cache-Control")]

        assert (head.status_code, head.content, told(head)) == (200, b"", told(whole))
        assert head["Content-Length"] == str(len(whole.content))
        assert again.status_code == 304


@pytest.mark.parametrize("accepted", ["text/html", "application/xml", "text/csv;q=1"])
def test_what_one_caller_accepts_decides_nothing_for_the_next_one_of_a_cache(accepted: str) -> None:
    post = make.post()

    for path in (LIST, one(post), f"/api/public/resolve?path=/blog/{post.slug}"):
        answer = ApiClient().get(path, HTTP_ACCEPT=accepted)
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


def test_only_public_answers_are_cacheable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post = make.post()
    client = ApiClient()
    client.raise_request_exception = False

    for path, status in ((one(post), 200), (f"{LIST}/none", 404), (f"{LIST}?page=0", 422)):
        answer = client.get(path)
        assert (answer.status_code, answer["Cache-Control"]) == (
            status,
            "public, max-age=60, stale-while-revalidate=60",
        )
    refused = client.send("POST", LIST, {})
    monkeypatch.setattr("content.api.delivery.posts.post_lists.post_list", lambda *_, **__: 1 / 0)
    broken = client.get(f"{LIST}?type=blog")

    assert (refused.status_code, refused["Cache-Control"]) == (405, "no-store")
    assert (broken.status_code, broken["Cache-Control"]) == (500, "no-store")


def test_a_list_and_a_post_tell_a_time_alike() -> None:
    post = make.post()
    editor = ApiClient("editor")
    Post.objects.filter(pk=post.pk).update(
        updated_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    )

    whole, listed = editor.read(f"/api/posts/{post.pk}"), editor.read("/api/posts")["data"][0]

    for name in ("createdAt", "updatedAt", "publishedAt"):
        assert whole[name] == listed[name]
    assert listed["updatedAt"] == "2026-01-02T03:04:05.678Z"


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
    assert found["translations"] == [{"id": str(german.pk), "locale": "de", "url": german.path}]
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
