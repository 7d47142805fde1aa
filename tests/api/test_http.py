"""Common behavior of every endpoint before its content: errors, headers, conditions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Post
from tests import make
from tests.api.refusals import error
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "nonsense",
        '{"title": "a",}',
        '{"title": NaN}',
        '{"title": 1e999}',
        '{"title": "\\ud800"}',
        "[" * 2000,
        "[" * 100 + "]" * 100,
        '{"a":' * 70 + "1" + "}" * 70,
    ],
    ids=lambda text: text[:16],
)
def test_a_body_that_is_no_json_is_400(text: str) -> None:
    post = make.post()

    error(ApiClient("editor").send("PUT", f"/api/posts/{post.pk}", text), 400, "bad_request")

    assert Post.objects.get().version == 1


def test_bytes_that_are_no_text_are_400() -> None:
    editor = ApiClient("editor")
    response = editor.generic(
        "POST",
        "/api/posts",
        b'{"title": "\xff"}',
        content_type="application/json",
        **editor._headers(),
    )

    error(response, 400, "bad_request")


@pytest.mark.parametrize("text", ["[]", '"title"', "5", "null", "true"])
def test_a_body_that_is_no_object_is_422(text: str) -> None:
    answer = error(ApiClient("editor").send("POST", "/api/posts", text), 422, "invalid")

    assert list(answer["details"]) == ["body"]


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
    ],
)
def test_a_body_of_another_kind_is_415(kind: str) -> None:
    editor = ApiClient("editor")

    response = editor.generic(
        "POST", "/api/posts", b"title=a", content_type=kind, **editor._headers()
    )

    error(response, 415, "unsupported_media_type")


def test_threat_57_a_body_past_the_limit_is_413(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    editor = ApiClient("editor")

    answer = editor.send("POST", "/api/posts", {"type": "blog", "title": "x" * 1000})

    error(answer, 413, "too_large")
    assert Post.objects.count() == 0


def test_a_method_that_is_not_there_is_405_and_says_which_are() -> None:
    editor = ApiClient("editor")

    refused = editor.send("PATCH", "/api/posts")
    public = Client(enforce_csrf_checks=True).post("/api/public/posts")

    error(refused, 405, "method_not_allowed")
    error(public, 405, "method_not_allowed")
    assert {"GET", "POST"} <= {name.strip() for name in refused["Allow"].split(",")}


@pytest.mark.parametrize(
    "path",
    ["/api/", "/api/nothing", "/api/posts/", "/api/posts/x/y/z", "/api/public", "/api/admin"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_that_is_not_there_is_404(method: str, path: str) -> None:
    error(Client(enforce_csrf_checks=True).generic(method, path), 404, "not_found")


@pytest.mark.parametrize("token", [None, "wrong", "x" * 64])
def test_a_session_without_its_csrf_token_is_403(token: str | None) -> None:
    post = make.post()
    editor = ApiClient("editor")
    extra: dict[str, Any] = {"HTTP_X_CSRFTOKEN": token} if token else {}

    for method, path in (
        ("PUT", f"/api/posts/{post.pk}"),
        ("DELETE", f"/api/posts/{post.pk}"),
        ("POST", "/api/auth/logout"),
    ):
        response = editor.generic(
            method, path, b'{"title":"x"}', content_type="application/json", **extra
        )
        error(response, 403, "csrf_failed")

    assert (Post.objects.get().version, Post.objects.get().deleted_at) == (1, None)
    editor.read("/api/auth/me")


def test_threat_40_every_unsafe_address_wants_the_token_and_no_get_writes(settings: Any) -> None:
    from tests.contract.addresses import addresses, filled

    # A request without the token counts as anonymous, and there are more addresses than one hour allows.
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "anon": "1000/hour"}
    editor = ApiClient("admin")
    before = make.live_hash()

    for address in addresses():
        for method in address.methods - {"GET", "HEAD", "OPTIONS"}:
            if not address.view.authentication_classes or address.path == "/api/auth/login":
                continue  # no session is looked at, so that a forged request has nothing to use
            response = editor.generic(
                method, filled(address.path), b"{}", content_type="application/json"
            )
            assert response.status_code == 403, (method, address.path)
            assert response.json()["code"] == "csrf_failed"
    assert make.live_hash() == before


def test_times_are_utc_with_z_and_ids_are_uuids() -> None:
    post = make.post()

    wire = ApiClient("editor").read(f"/api/posts/{post.pk}")

    for name in ("createdAt", "updatedAt", "publishedAt"):
        assert wire[name].endswith("Z"), (name, wire[name])
    assert wire["id"] == str(post.pk)


def test_two_posts_created_with_one_slug() -> None:
    editor = ApiClient("editor")
    body = {"type": "blog", "title": "Same"}
    editor.write("POST", "/api/posts", body, expect=201)

    answer = editor.write("POST", "/api/posts", body, expect=422)

    assert (answer["code"], list(answer["details"])) == ("slug_taken", ["slug"])
    editor.write("POST", "/api/posts", {**body, "locale": "de"}, expect=201)
    editor.write("POST", "/api/posts", {**body, "type": "page"}, expect=201)


def test_a_slug_taken_between_check_and_write_is_422_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race: the check finds the slug free, the constraint does not."""
    from content.rules import check

    one, other = make.post("One", slug="one"), make.post("Other", slug="other")
    monkeypatch.setattr(check, "check_slug_is_free", lambda *_args, **_named: None)
    editor = ApiClient("editor")

    created = editor.write("POST", "/api/posts", {"type": "blog", "title": "One"}, expect=422)
    renamed = editor.write(
        "PUT", f"/api/posts/{other.pk}", {"slug": "one", "title": "X"}, expect=422
    )

    assert list(created["details"]) == list(renamed["details"]) == ["slug"]
    assert Post.objects.get(pk=other.pk).title == "Other"
    assert Post.objects.count() == 2
    assert one.slug == "one"


def test_a_body_is_not_read_before_the_csrf_token(settings: Any) -> None:
    """Neither errors nor a token in the body are read for a forged request."""
    editor = ApiClient("editor")
    token = editor.cookies["csrftoken"].value

    for kind, body in (
        ("application/json", b"{"),
        ("application/json", b"x" * 6_000_000),
        ("text/csv", b"x"),
        ("application/x-www-form-urlencoded", f"csrfmiddlewaretoken={token}".encode()),
    ):
        answer = editor.generic("POST", "/api/posts", body, content_type=kind)
        error(answer, 403, "csrf_failed")


@pytest.mark.parametrize("kind", ["text/html", "text/csv", "application/xml;q=1"])
def test_an_answer_of_another_kind_is_406(kind: str) -> None:
    error(ApiClient("editor").get("/api/posts", HTTP_ACCEPT=kind), 406, "not_acceptable")


def test_a_page_that_accepts_pages_alone_is_sent_on_by_its_form() -> None:
    make.form(fields=[{"name": "name", "label": "Name", "type": "text"}], redirectUrl="/thanks")

    answer = ApiClient().post("/api/forms/contact/submit", {"name": "Ada"}, HTTP_ACCEPT="text/html")

    assert (answer.status_code, answer["Location"]) == (303, "/thanks")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, {"name": ["This must not be empty."]}),
        ({"name": "x" * 1000}, {"name": ["This must have at most 100 characters."]}),
        ({"permissions": []}, {"permissions": ["This must not be empty."]}),
        ({"permissions": "posts.view"}, {"permissions": ["This must be a list."]}),
        ({"name": None}, {"name": ["This must be text."]}),
        ({"colour": 1}, {"colour": ["There is no key 'colour' here. Known: "]}),
    ],
)
def test_a_refusal_says_what_to_send_and_nothing_of_python(
    change: dict[str, Any], said: dict[str, list[str]]
) -> None:
    body = {"name": "Builds", "permissions": ["posts.view"], **change}

    details = ApiClient("admin").write("POST", "/api/tokens", body, expect=422)["details"]

    assert list(details) == list(said)
    for name, sentences in said.items():
        assert details[name][0].startswith(sentences[0])


@pytest.mark.parametrize(
    "kind", ["*/*", "application/*", "text/html, */*;q=0.1", "application/json"]
)
def test_who_takes_json_gets_it(kind: str) -> None:
    assert ApiClient("editor").get("/api/posts", HTTP_ACCEPT=kind).status_code == 200


def test_a_method_that_is_not_there_tells_nothing_to_strangers() -> None:
    editor = ApiClient("editor")

    for path in ("/api/posts", "/api/users", "/api/tokens", f"/api/posts/{make.post().pk}"):
        error(ApiClient().send("PATCH", path), 401, "not_authenticated")
        error(ApiClient().options(path), 401, "not_authenticated")
        answer = editor.options(path)
        assert answer.status_code == 200
        assert "choices" not in answer.content.decode()


def test_head_is_get_without_its_body() -> None:
    post = make.post()
    editor = ApiClient("editor")

    for path in ("/api/posts", f"/api/posts/{post.pk}", "/api/public/posts"):
        got, asked = editor.get(path), editor.head(path)
        assert (asked.status_code, asked.content) == (200, b"")
        assert asked["Content-Type"] == got["Content-Type"]
        assert asked.get("ETag") == got.get("ETag")
    assert editor.head(f"/api/posts/{post.pk}")["ETag"]
    assert Client().head(f"/api/posts/{post.pk}").status_code == 401
    assert Client().head(f"/api/public/posts/{post.pk}").status_code == 200


def test_an_etag_is_judged_after_permission() -> None:
    post = make.post()
    editor = ApiClient("editor")
    for path in (f"/api/posts/{post.pk}", "/api/posts"):
        first = editor.get(path)

        same = editor.get(path, HTTP_IF_NONE_MATCH=first["ETag"])
        weak = editor.get(path, HTTP_IF_NONE_MATCH=f'"other", W/{first["ETag"]}')
        other = editor.get(path, HTTP_IF_NONE_MATCH='"other"')
        stranger = ApiClient().get(path, HTTP_IF_NONE_MATCH=first["ETag"])
        anything = ApiClient().get(path, HTTP_IF_NONE_MATCH="*")

        assert (same.status_code, same.content, weak.status_code, other.status_code) == (
            304,
            b"",
            304,
            200,
        )
        error(stranger, 401, "not_authenticated")
        error(anything, 401, "not_authenticated")


def test_what_is_staged_changes_the_etag() -> None:
    post = make.post()
    editor = ApiClient("editor")
    before = editor.get(f"/api/posts/{post.pk}")["ETag"]

    make.staged(post, {"title": "Waits"})

    assert editor.get(f"/api/posts/{post.pk}", HTTP_IF_NONE_MATCH=before).status_code == 200


def test_a_public_answer_is_304_until_live_content_moves() -> None:
    post = make.post()
    path = f"/api/public/posts/{post.pk}"
    etag = Client().get(path)["ETag"]

    make.staged(post, {"title": "Waits"})
    still = Client().get(path, HTTP_IF_NONE_MATCH=etag)
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"title": "Moved"})
    moved = Client().get(path, HTTP_IF_NONE_MATCH=etag)

    assert (still.status_code, moved.status_code, moved.json()["title"]) == (304, 200, "Moved")


def test_threat_39_answers_to_people_are_not_kept_by_shared_caches() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"})
    editor = ApiClient("editor")
    url = f"/api/posts/{post.pk}"

    for path in (
        f"{url}/changes",
        f"{url}/modules",
        f"{url}/revisions",
        f"{url}/provenance",
        f"{url}/export",
        "/api/auth/me",
    ):
        assert editor.get(path)["Cache-Control"] == "no-store", path
    for path in (url, "/api/posts"):
        response = editor.get(path)
        assert response["Cache-Control"] == "private, no-cache"
        assert {"Cookie", "Authorization"} <= {part.strip() for part in response["Vary"].split(",")}
    assert ApiClient().get(url)["Cache-Control"] == "no-store"


def test_threat_23_no_answer_names_a_version_of_software() -> None:
    post = make.post()

    for path in (
        "/api/posts",
        f"/api/public/posts/{post.pk}",
        "/api/nothing",
        "/health",
        "/api/schema/",
    ):
        response = Client().get(path)
        assert not {"Server", "X-Powered-By"} & set(response.headers)
        assert b"jango" not in response.content, path
