"""Global modules: created, changed for all posts at once, restored, and deleted if unused."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from content.document.document import PostDocument
from content.models import Layer, ModuleInstance, Post
from content.modules.global_modules import create_global, edit_global
from content.posts.trash import delete_post
from content.store import document_edits
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.core.models import Event
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
URL = "/api/modules/global"


def made(slug: str = "letter", **props: Any) -> ModuleInstance:
    return create_global(
        actor=make.actor("editor"),
        slug=slug,
        type="callout",
        label="Letter",
        props={"title": "Subscribe", **props},
    )


def revisions_of(module: ModuleInstance) -> QuerySet[SharedRevision]:
    return list_revisions(GLOBAL_MODULE, module.pk)


def stage_place(post: Post, module: ModuleInstance, layer: Layer) -> None:
    def place(document: PostDocument) -> PostDocument:
        shared = (str(module.global_slug), str(module.pk))
        return document_edits.add_module(document, type=module.type, shared=shared)[0]

    make.staged(post, layer=layer, edit=place)


def test_it_is_made_with_full_props_and_a_first_revision() -> None:
    body = {"globalSlug": "letter", "type": "callout", "label": "Letter", "props": {"title": "Hi"}}

    answer = ApiClient("editor").write("POST", URL, body, expect=201)

    module = ModuleInstance.objects.get(global_slug="letter")
    assert answer["id"] == str(module.pk)
    assert (answer["version"], answer["affectedPosts"], answer["label"]) == (1, 0, "Letter")
    assert answer["props"] == module.props
    assert answer["props"]["tone"] == "info"
    assert answer["schema"]["type"] == "callout"
    assert [(row.version, row.reason, row.by_name) for row in revisions_of(module)] == [
        (1, "created", "editor")
    ]


def test_a_change_shows_on_every_post_at_once_and_says_on_how_many(
    run_on_commit: RunOnCommit,
) -> None:
    module = made()
    posts = [make.post(f"Post {number}", slug=f"post-{number}") for number in range(2)]
    for post in posts:
        make.placed(post, module)
    paths = [Post.objects.get(pk=post.pk).path for post in posts]
    for path in paths:
        assert b"Subscribe" in Client().get(path).content
    client = ApiClient("editor")
    assert client.read(f"{URL}/letter")["affectedPosts"] == 2

    with run_on_commit():
        answer = client.write("PUT", f"{URL}/letter", {"props": {"title": "Write to us"}})

    assert (answer["affectedPosts"], answer["version"]) == (2, 2)
    for path in paths:
        page = Client().get(path).content
        assert b"Write to us" in page
        assert b"Subscribe" not in page
    delivered = Client().get(f"/api/public/posts/{posts[0].pk}").json()
    assert delivered["modules"][-1]["props"]["title"] == "Write to us"
    found = client.read("/api/posts?search=Write")["data"]
    assert {row["id"] for row in found} == {str(post.pk) for post in posts}
    event = Event.objects.filter(name="content.changed").latest("id")
    assert (event.payload["what"], event.payload["slug"]) == ("global-module", "letter")
    newest = revisions_of(module)[0]
    assert (newest.version, newest.reason, newest.document["props"]["title"]) == (
        2,
        "edited",
        "Write to us",
    )


def test_the_posts_beyond_the_first_are_found_by_the_new_words_too(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("content.store.search.POSTS_PER_TASK", 1)
    module = made()
    for number in range(3):
        make.placed(make.post(f"Post {number}", slug=f"post-{number}"), module)

    with run_on_commit():
        edit_global(actor=make.actor("editor"), slug="letter", props={"title": "Zebra"})

    assert ApiClient("editor").read("/api/posts?search=Zebra")["meta"]["total"] == 3


def test_what_was_read_can_be_put_back_and_changes_nothing() -> None:
    module = made()
    client = ApiClient("editor")
    read = client.read(f"{URL}/letter")
    events = Event.objects.count()

    answer = client.write("PUT", f"{URL}/letter", read)

    assert answer == read
    assert revisions_of(module).count() == 1
    assert Event.objects.count() == events


def test_a_stale_writer_is_refused_by_version_and_by_if_match() -> None:
    made()
    client = ApiClient("editor")
    etag = client.get(f"{URL}/letter")["ETag"]
    client.write("PUT", f"{URL}/letter", {"label": "Second"}, HTTP_IF_MATCH=etag)

    answer = refused(
        "PUT", f"{URL}/letter", {"label": "Third", "version": 1}, 409, "stale_version", "version"
    )
    again = client.send("PUT", f"{URL}/letter", {"label": "Third"}, HTTP_IF_MATCH=etag)

    assert answer["version"] == 2
    assert again.status_code == 409
    assert ModuleInstance.objects.get().label == "Second"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"globalSlug": "Letter"}, "globalSlug"),
        ({"globalSlug": "a--b"}, "globalSlug"),
        ({"globalSlug": "x" * 101}, "globalSlug"),
        ({"globalSlug": "ü"}, "globalSlug"),
        ({"globalSlug": "letter\n"}, "globalSlug"),
        ({"globalSlug": "taken"}, "globalSlug"),
        ({"globalSlug": 1}, "globalSlug"),
        ({"type": "nothing"}, "type"),
        ({"label": "x" * 201}, "label"),
        ({"label": "a\nb"}, "label"),
        ({"props": []}, "props"),
        ({"props": {"title": "x" * 1_000_000}}, "props.title"),
        ({"props": {"ctaUrl": "javascript:alert(1)"}}, "props.ctaUrl"),
        ({"props": {"nothing": 1}}, "props.nothing"),
        ({"scope": "global"}, "scope"),
    ],
)
def test_hostile_bodies_are_refused(body: dict[str, Any], key: str) -> None:
    made("taken")
    whole = {"globalSlug": "new", "type": "callout", **body}
    before = list(ModuleInstance.objects.values())

    answer = ApiClient("editor").write("POST", URL, whole, expect=422)

    assert set(answer["details"]) == {key}
    assert list(ModuleInstance.objects.values()) == before
    assert SharedRevision.objects.count() == 1


def test_the_type_and_the_slug_stay() -> None:
    made()
    refused("PUT", f"{URL}/letter", {"type": "prose"}, 422, "module_type", "type")
    refused("PUT", f"{URL}/letter", {"globalSlug": "other"}, 422, "invalid", "globalSlug")
    refused("PUT", f"{URL}/letter", {"props": {"tone": "loud"}}, 422, "invalid_props", "props.tone")


def test_only_what_may_be_global_is_made_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from proofroom.definitions import find_module

    monkeypatch.setattr(find_module("faq"), "allowed_scopes", ("local",))
    refused("POST", URL, {"globalSlug": "x", "type": "faq"}, 422, "invalid", "type")


def test_a_revision_is_returned_to_and_one_of_another_module_is_not_there() -> None:
    module, other = made(), made("other")
    client = ApiClient("editor")
    client.write("PUT", f"{URL}/letter", {"label": "New", "props": {"title": "New"}})
    rows = client.read(f"{URL}/letter/revisions")
    assert [(row["version"], row["reason"]) for row in rows["data"]] == [
        (2, "edited"),
        (1, "created"),
    ]
    first = rows["data"][1]["id"]

    answer = client.write("POST", f"{URL}/letter/revisions/{first}/revert")

    module.refresh_from_db()
    assert (answer["version"], answer["label"]) == (3, "Letter")
    assert module.props["title"] == "Subscribe"
    foreign = revisions_of(other).get().pk
    refused("POST", f"{URL}/letter/revisions/{foreign}/revert", {}, 404, "not_found")


def test_usage_names_live_and_staged_places_and_never_the_trash() -> None:
    module = made()
    live, review, proposed, gone = (
        make.post(name, slug=name.lower()) for name in ("Live", "Review", "Proposed", "Gone")
    )
    make.placed(live, module)
    make.placed(gone, module)
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    stage_place(review, module, Layer.REVIEW)
    stage_place(proposed, module, Layer.AI_REVIEW)
    make.post("Elsewhere", slug="elsewhere")
    client = ApiClient("editor")

    answer = client.read(f"{URL}/letter/usage")

    assert {(row["title"], row["layer"]) for row in answer["data"]} == {
        ("Live", "source"),
        ("Review", "review"),
        ("Proposed", "ai-review"),
    }
    assert answer["meta"]["total"] == 3
    assert client.read(f"{URL}/letter")["affectedPosts"] == 1
    assert client.read(URL)["data"][0]["affectedPosts"] == 1


@pytest.mark.parametrize("where", ["live", "staged", "trash"])
def test_one_in_use_is_not_deleted(where: str) -> None:
    module, post = made(), make.post()
    if where == "staged":
        stage_place(post, module, Layer.AI_REVIEW)
    else:
        make.placed(post, module)
    if where == "trash":
        delete_post(post_id=post.pk, actor=make.actor("admin"))

    answer = refused("DELETE", f"{URL}/letter", None, 409, "in_use", "globalSlug")

    assert "used in 1 post" in answer["error"]


def test_an_unused_one_is_deleted_and_its_slug_is_free_again() -> None:
    module = made()

    answer = ApiClient("editor").write("DELETE", f"{URL}/letter")

    assert answer == {"id": str(module.pk), "globalSlug": "letter", "deleted": True}
    assert not SharedRevision.objects.exists()
    assert made().version == 1


def test_agents_and_ai_clients_do_not_change_what_is_live() -> None:
    made()
    before = make.live_hash()
    for actor in (make.agent_actor(), make.mcp_actor("admin")):
        for call in (
            lambda who: edit_global(actor=who, slug="letter", label="Mine"),
            lambda who: create_global(actor=who, slug="new", type="callout"),
        ):
            with pytest.raises(NotAllowed) as error:
                call(actor)
            assert error.value.code == "person_required"
    assert make.live_hash() == before


def test_threat_52_overrides_change_one_post_only_and_are_checked() -> None:
    module, post, other = made(), make.post(), make.post("Other", slug="other")
    place = make.placed(post, module)
    make.placed(other, module)
    client, before = ApiClient("editor"), dict(module.props)

    answer = client.write(
        "PUT", f"/api/post-modules/{place}", {"overrides": {"title": "Only here"}}
    )

    assert answer["overrides"] == {"title": "Only here"}
    assert answer["props"]["title"] == "Subscribe"
    for body, status, key in (
        ({"overrides": {"nothing": 1}}, 422, "overrides.nothing"),
        ({"overrides": {"ctaUrl": "javascript:x"}}, 422, "overrides.ctaUrl"),
        ({"overrides": {"tone": 1}}, 422, "overrides.tone"),
        ({"props": {"title": "For all"}}, 422, "props"),
    ):
        refusal = client.write("PUT", f"/api/post-modules/{place}", body, expect=status)
        assert set(refusal["details"]) == {key}
    module.refresh_from_db()
    assert module.props == before
    assert make.layers(other).live.modules[-1].overrides == {}


def test_a_list_is_found_by_words_and_type() -> None:
    made("letter")
    made("banner")
    client = ApiClient("translator")

    assert [row["globalSlug"] for row in client.read(URL)["data"]] == ["banner", "letter"]
    assert client.read(f"{URL}?q=bann")["meta"]["total"] == 1
    assert client.read(f"{URL}?type=prose")["meta"]["total"] == 0
    client.read(f"{URL}?q={'x' * 201}", expect=422)
    client.read(f"{URL}?q=%00", expect=422)
    client.read(f"{URL}/%00", expect=404)


def test_two_at_once_with_one_slug_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    with pytest.raises(CmsError) as error:
        made()
    assert error.value.code == "slug_taken"
    assert ModuleInstance.objects.count() == 1
