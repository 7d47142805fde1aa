"""The main workflow over REST: staged by an agent, submitted, partly approved, partly rejected, live."""

from __future__ import annotations

import pytest

from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_an_editor_takes_some_changes_and_rejects_one_with_a_note() -> None:
    post = make.post()
    url = f"/api/posts/{post.pk}"
    make.staged(
        post,
        {"title": "Better title", "metaTitle": "Better meta", "excerpt": "Worse excerpt"},
        by=make.agent_actor(run_id="run-1"),
    )
    editor = ApiClient("editor")

    before = editor.read(f"{url}/changes?layer=ai-review")
    submitted = editor.write("POST", f"{url}/ai-review/submit")
    review = editor.read(f"{url}/changes?layer=review")
    editor.write("POST", f"{url}/review/reject", {"paths": ["post.excerpt"], "note": "Too vague"})
    approved = editor.write(
        "POST",
        f"{url}/review/approve",
        {"digest": review["digest"], "paths": ["post.title", "post.metaTitle"]},
    )

    change = before["changes"][0]
    assert (change["path"], change["kind"], change["label"]) == ("post.title", "changed", "Title")
    assert (change["before"], change["after"]) == ("How to brew filter coffee", "Better title")
    assert (change["agentId"], change["runId"], change["conflict"]) == (
        "seo-specialist",
        "run-1",
        False,
    )
    assert submitted["submitted"] == ["post.title", "post.excerpt", "post.metaTitle"]
    assert (approved["title"], approved["metaTitle"], approved["excerpt"]) == (
        "Better title",
        "Better meta",
        "",
    )
    assert approved["layers"]["review"]["exists"] is False
    assert approved["layers"]["aiReview"]["exists"] is False
    public = ApiClient().read(f"/api/public/posts/{post.pk}")
    assert public["title"] == "Better title"
    assert editor.read(f"{url}/revisions")["data"][0]["changedPaths"] == [
        "post.title",
        "post.metaTitle",
    ]
    sources = {row["path"]: row for row in editor.read(f"{url}/provenance")["data"][:2]}
    assert sources["post.title"]["agentId"] == "seo-specialist"
    assert sources["post.title"]["approvedBy"]["username"] == "editor"


def test_a_list_a_post_and_its_modules_have_the_shapes_of_the_spec() -> None:
    post = make.post()
    editor = ApiClient("editor")

    listed = editor.read("/api/posts")
    whole = editor.read(f"/api/posts/{post.pk}")
    modules = editor.read(f"/api/posts/{post.pk}/modules")

    assert listed["meta"] == {"total": 1, "per_page": 20, "current_page": 1, "last_page": 1}
    assert [row["type"] for row in listed["data"][0]["modules"]] == ["hero", "prose", "faq"]
    assert listed["data"][0]["modules"][0]["props"]["title"] == "How to brew filter coffee"
    assert whole["url"] == "/blog/how-to-brew-filter-coffee"
    assert whole["modules"] == modules["data"]
    hero = whole["modules"][0]
    assert (hero["locked"], hero["reviewProps"], hero["aiReviewProps"], hero["globalSlug"]) == (
        True,
        None,
        None,
        None,
    )
    assert hero["schema"]["type"] == "hero"


def test_a_module_that_exists_only_in_a_layer_has_null_props_and_is_not_public() -> None:

    post = make.post()
    make.staged_addition(post, type="callout", props={"title": "New"})

    wire = ApiClient("editor").read(f"/api/posts/{post.pk}")["modules"][-1]
    public = ApiClient().get(f"/api/public/posts/{post.pk}")

    assert (wire["props"], wire["reviewProps"], wire["aiReviewProps"]["title"]) == (
        None,
        None,
        "New",
    )
    assert b"New" not in public.content
    assert b"aiReview" not in public.content


def test_what_was_read_can_be_put_back() -> None:
    post = make.post()
    editor = ApiClient("editor")
    whole = editor.read(f"/api/posts/{post.pk}")
    whole.pop("modules")
    make_version = whole["version"]

    again = editor.write("PUT", f"/api/posts/{post.pk}", whole)

    assert again["version"] == make_version


def test_create_update_status_delete_restore() -> None:
    editor = ApiClient("editor")
    made = editor.write(
        "POST",
        "/api/posts",
        {"type": "blog", "title": "Hello", "modules": [{"type": "prose", "props": {}}]},
        expect=201,
    )
    url = f"/api/posts/{made['id']}"

    published = editor.write("PUT", url, {"status": "published", "title": "Hello there"})
    editor.write("DELETE", url)
    gone = editor.read(url, expect=404)
    back = editor.write("POST", f"{url}/restore")

    assert (made["slug"], made["status"], len(made["modules"])) == ("hello", "draft", 1)
    assert (published["status"], published["title"], published["publishedAt"] is None) == (
        "published",
        "Hello there",
        False,
    )
    assert gone["code"] == "not_found"
    assert back["id"] == made["id"]
