"""ETags, caches, HEAD and OPTIONS: information before and after the permission check."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import make
from tests.api.refusals import error
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


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


def test_head_is_a_get_without_its_body() -> None:
    post = make.post()
    editor = ApiClient("editor")

    whole, head = editor.get(f"/api/posts/{post.pk}"), editor.head(f"/api/posts/{post.pk}")

    assert (head.status_code, head.content, head["ETag"]) == (200, b"", whole["ETag"])
    assert Client().head(f"/api/posts/{post.pk}").status_code == 401
    assert Client().head(f"/api/public/posts/{post.pk}").status_code == 200


def test_options_tells_nothing_to_strangers() -> None:
    post = make.post()

    for path in ("/api/posts", f"/api/posts/{post.pk}"):
        error(Client().options(path), 401, "not_authenticated")
        answer = ApiClient("editor").options(path)
        assert answer.status_code == 200
        assert "choices" not in answer.content.decode()


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
