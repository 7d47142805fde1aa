"""Outdated versions, digests and paths, and reads sent back unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Layer, Post
from proofroom.core.models import Event
from tests import make
from tests.api.refusals import refused, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("version", [0, 99])
@pytest.mark.parametrize("by", ["body", "header"])
def test_a_stale_version_is_409_with_the_current_one(version: int, by: str) -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    for path, body in (
        (f"/api/posts/{post.pk}", {"title": "New"}),
        (f"/api/post-modules/{hero}", {"props": {"title": "N"}}),
    ):
        before = stored()
        extra = {"HTTP_IF_MATCH": f'"{version}.abc"'} if by == "header" else {}
        sent: dict[str, Any] = body if by == "header" else {**body, "version": version}

        answer = ApiClient("editor").write("PUT", path, sent, expect=409, **extra)

        assert (answer["code"], answer["version"]) == ("stale_version", 1)
        assert stored() == before


def test_the_etag_of_a_read_lets_one_writer_through() -> None:
    post = make.post()
    editor = ApiClient("editor")
    etag = editor.get(f"/api/posts/{post.pk}")["ETag"]

    editor.write("PUT", f"/api/posts/{post.pk}", {"title": "First"}, HTTP_IF_MATCH=etag)
    answer = editor.write(
        "PUT", f"/api/posts/{post.pk}", {"title": "Second"}, expect=409, HTTP_IF_MATCH=etag
    )

    assert answer["version"] == 2
    assert Post.objects.get().title == "First"


@pytest.mark.parametrize("version", ["1", 1.5, True, -1, [1]], ids=str)
def test_a_version_is_a_whole_number(version: Any) -> None:
    post = make.post()

    refused(
        "PUT",
        f"/api/posts/{post.pk}",
        {"title": "N", "version": version},
        422,
        "invalid",
        "version",
    )


@pytest.mark.parametrize(
    "digest",
    ["", "d1.", "d1.%%%", "x" * 100, "d1." + "A" * 400_000, "d1.AAAA", "é"],
    ids=lambda v: v[:12],
)
def test_a_digest_of_nothing_approves_nothing(digest: str) -> None:
    post = make.post()
    make.staged(post, {"title": "Staged"}, layer=Layer.REVIEW)
    before = stored()

    answer = ApiClient("editor").send(
        "POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest}
    )

    assert answer.status_code in (409, 422), answer.content
    assert stored() == before


def test_unknown_paths_are_refused_by_every_decision() -> None:
    post = make.post()
    make.staged(post, {"title": "Staged"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Staged"})
    url = f"/api/posts/{post.pk}"
    digest = ApiClient("editor").read(f"{url}/changes")["digest"]

    for name in ("review/reject", "ai-review/reject", "ai-review/submit", "review/approve"):
        for paths in (["post.nothing"], []):
            body: dict[str, Any] = {"paths": paths}
            if name == "review/approve":
                body["digest"] = digest
            refused("POST", f"{url}/{name}", body, 422, "unknown_path", "paths")
    refused("POST", f"{url}/review/reject", {"path": ["x"]}, 422, "invalid", "path")
    refused("POST", f"{url}/review/reject", {"note": "nul\x00"}, 422, "invalid", "note")
    refused("POST", f"{url}/review/reject", {"paths": "post.title"}, 422, "invalid", "paths")


def test_a_decision_holds_so_many_paths_and_words_and_names_each_path_once() -> None:
    post = make.post()
    make.staged(post, {"title": "Staged", "excerpt": "Staged"}, layer=Layer.REVIEW)
    url = f"/api/posts/{post.pk}"
    digest = ApiClient("editor").read(f"{url}/changes")["digest"]
    revision = ApiClient("editor").read(f"{url}/revisions")["data"][0]["id"]

    for name in ("review/reject", "ai-review/reject", "ai-review/submit", "review/approve"):
        extra = {"digest": digest} if name == "review/approve" else {}
        for key, value in (("note", "n" * 2_001), ("paths", ["post.title"] * 20_001)):
            refused("POST", f"{url}/{name}", {key: value, **extra}, 422, "invalid", key)
    long = {"note": "n" * 2_001}
    refused("POST", f"{url}/revisions/{revision}/revert", long, 422, "invalid", "note")

    twice = {"paths": ["post.title", "post.title"], "note": "n" * 2_000}
    answer = ApiClient("editor").write("POST", f"{url}/review/reject", twice)
    assert answer["rejected"] == ["post.title"]
    assert Event.objects.get(name="post.review.reject").payload["paths"] == ["post.title"]


def test_what_a_get_answers_can_be_put_back_whole() -> None:
    post = make.post()
    make.staged(post, {"title": "Waits"})
    editor = ApiClient("editor")
    whole = editor.read(f"/api/posts/{post.pk}")

    again = editor.write("PUT", f"/api/posts/{post.pk}", whole)
    for module in whole["modules"]:
        editor.write("PUT", f"/api/post-modules/{module['postModuleId']}", module)

    assert again["version"] == editor.read(f"/api/posts/{post.pk}")["version"] == 1
    whole["modules"][0]["props"]["title"] = "Not this way"
    refused("PUT", f"/api/posts/{post.pk}", whole, 422, "invalid", "modules")
