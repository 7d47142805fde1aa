"""Import: the output of `/export` creates a new draft, and nothing else."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from content.models import ModuleInstance, Post, PostModule
from content.posts.trash import delete_post
from content.presenters.canonical_json import import_post
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

PATH = "/api/posts/import"
IDS = {"postModuleId", "moduleInstanceId"}


def exported(post: Post) -> Any:
    return ApiClient("editor").read(f"/api/posts/{post.pk}/export")


def rich() -> Post:
    """Create a published post with a shared module, overrides, terms, a date and a lock."""
    shared = make.global_module()
    post = make.post(
        excerpt="Short.",
        metaTitle="Meta",
        robotsJson={"index": True, "follow": False},
        jsonldOverrides={"@type": "Recipe"},
        canonicalUrl="https://example.com/coffee",
        orderIndex=4,
        taxonomyTermIds=[str(make.term("Coffee").pk)],
    )
    make.added_module(
        post, type="callout", shared=("newsletter", str(shared.pk)), props={"title": "Own"}
    )
    return Post.objects.get(pk=post.pk)


def plain(document: Any) -> Any:
    """Return a document without ids and without keys that an import ignores."""
    found = deepcopy(document)
    for module in found["modules"]:
        for name in IDS:
            del module[name]
    for name in ("slug", "status", "authors"):
        del found["post"][name]
    return found


@pytest.mark.parametrize("bare", [False, True])
def test_what_was_exported_comes_back_but_for_its_ids(bare: bool) -> None:
    post = rich()
    document = exported(post)
    editor = ApiClient("editor")
    if bare:
        document["post"]["slug"] = "imported"
        answer = editor.write("POST", PATH, document, expect=201)
    else:
        body = {"document": document, "slug": "imported"}
        answer = editor.write("POST", PATH, body, expect=201)

    made = Post.objects.get(pk=answer["id"])
    again = exported(made)
    assert plain(again) == plain(document)
    assert (again["post"]["slug"], again["post"]["status"]) == ("imported", "draft")
    for name in IDS - {"moduleInstanceId"}:
        mine = {module[name] for module in again["modules"]}
        assert mine.isdisjoint(module[name] for module in document["modules"])
    local = [m["moduleInstanceId"] for m in again["modules"] if m["scope"] == "local"]
    assert set(local).isdisjoint(m["moduleInstanceId"] for m in document["modules"])
    assert made.translation_group != post.translation_group
    assert made.author.username == "editor"
    assert made.authors == [made.author_id]


def test_it_publishes_nothing_now_or_later() -> None:
    post = make.post(status="draft")
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"publishAt": "2099-01-01T00:00:00Z"})
    document = exported(post)
    document["post"]["status"] = "published"
    Event.objects.all().delete()

    answer = ApiClient("editor").write(
        "POST", PATH, {"document": document, "slug": "imported"}, expect=201
    )

    assert (answer["status"], answer["publishAt"], answer["publishedAt"]) == ("draft", None, None)
    assert list(Event.objects.values_list("name", flat=True)) == ["post.created"]


def test_another_language_can_be_given() -> None:
    document = exported(make.post())

    answer = ApiClient("editor").write(
        "POST", PATH, {"document": document, "locale": "de"}, expect=201
    )

    assert (answer["locale"], answer["url"]) == ("de", "/de/blog/how-to-brew-filter-coffee")


def test_ids_in_a_document_reach_no_other_post() -> None:
    victim = make.post("Victim", slug="victim")
    placements = list(PostModule.objects.filter(post=victim).order_by("pk").values())
    instances = list(ModuleInstance.objects.order_by("pk").values())
    document = exported(victim)
    document["post"]["id"] = str(victim.pk)

    refused("POST", PATH, {"document": document}, 422, "invalid", "document.post.id")
    del document["post"]["id"]
    for module in document["modules"]:
        module["props"]["title" if module["type"] == "hero" else "heading"] = "Taken over"
        if module["type"] == "prose":
            del module["props"]["heading"]
    answer = ApiClient("editor").write(
        "POST", PATH, {"document": document, "slug": "imported"}, expect=201
    )

    assert answer["id"] != str(victim.pk)
    assert list(PostModule.objects.filter(post=victim).order_by("pk").values()) == placements
    kept = ModuleInstance.objects.filter(pk__in=[row["id"] for row in instances])
    assert list(kept.order_by("pk").values()) == instances


@pytest.mark.parametrize("version", [2, 99, 0, -1, 1.5, "1", True, {}, []])
def test_another_version_of_the_schema_is_refused(version: Any) -> None:
    document = {**exported(make.post()), "schemaVersion": version}
    path = "document.schemaVersion"

    refused("POST", PATH, {"document": document}, 422, "schema_version", path)
    refused("POST", PATH, document, 422, "schema_version", path)


def changed(**changes: Any) -> Any:
    def change(document: Any) -> None:
        for path, value in changes.items():
            *parts, last = path.split("__")
            target = document
            for part in parts:
                target = target[int(part)] if part.isdigit() else target[part]
            target[last] = value

    return change


NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (changed(post__type="nonsense"), "type"),
        (changed(post__locale="xx"), "locale"),
        (changed(post__title=""), "title"),
        (changed(post__title=None), "title"),
        (changed(post__title="x" * 400), "title"),
        (changed(post__title=7), "document.post.title"),
        (changed(post__nonsense=1), "document.post.nonsense"),
        (changed(post__slug="Not A Slug"), "slug"),
        (changed(post__parentId=NOBODY), "parentId"),
        (changed(post__featuredMediaId=NOBODY), "featuredMediaId"),
        (changed(post__customFields={"nonsense": 1}), "customFields.nonsense"),
        (changed(post__canonicalUrl="javascript:alert(1)"), "canonicalUrl"),
        (changed(post__robotsJson={"index": "no"}), "robotsJson"),
        (changed(post__orderIndex=True), "document.post.orderIndex"),
        (changed(post__orderIndex=10**8), "orderIndex"),
        (changed(taxonomyTermIds=[NOBODY]), "taxonomyTermIds"),
        (changed(taxonomyTermIds=["x"]), "taxonomyTermIds"),
        (changed(taxonomyTermIds=[1]), "document.taxonomyTermIds.0"),
        (changed(taxonomyTermIds=[NOBODY] * 201), "document.taxonomyTermIds"),
        (changed(modules="x"), "document.modules"),
        (changed(modules__0__type="nonsense"), "modules.0.type"),
        (changed(modules__0__scope="nonsense"), "modules.0.scope"),
        (changed(modules__0__props={"nonsense": 1}), "modules.0.props.nonsense"),
        (changed(modules__0__overrides={"nonsense": 1}), "modules.0.overrides.nonsense"),
        (changed(modules__0__nonsense=1), "document.modules.0.nonsense"),
        (changed(modules__0__globalSlug="no-such"), "modules.0.globalSlug"),
        (changed(modules=[{"type": "hero"}] * 301), "document.modules"),
        (changed(nonsense=1), "document.nonsense"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_path(change: Any, key: str) -> None:
    document = exported(make.post())
    document["post"]["slug"] = "imported"
    change(document)
    before = Post.objects.count()

    answer = ApiClient("editor").write("POST", PATH, {"document": document}, expect=422)

    assert key in answer["details"], answer
    assert Post.objects.count() == before


@pytest.mark.parametrize("body", [{}, {"document": None}, {"document": []}, {"document": "x"}, []])
def test_what_is_no_document_is_refused(body: Any) -> None:
    answer = ApiClient("editor").write("POST", PATH, body, expect=422)

    assert answer["details"]
    assert not Post.objects.exists()


def test_a_slug_that_is_taken_is_refused_and_can_be_replaced() -> None:
    post = make.post()
    document = exported(post)

    refused("POST", PATH, {"document": document}, 422, "slug_taken", "slug")
    delete_post(post_id=post.pk, actor=make.actor())
    ApiClient("editor").write("POST", PATH, {"document": document}, expect=201)


def test_threat_17_agents_and_translators_import_nothing() -> None:
    document = make.layers(make.post()).live
    before = make.live_hash()

    for actor in (make.actor("translator"), make.agent_actor(), make.mcp_actor("admin")):
        with pytest.raises(NotAllowed):
            import_post(actor=actor, document=document, slug="imported")
    assert make.live_hash() == before


def test_threat_17_what_is_in_the_trash_is_not_exported() -> None:
    post = make.post()
    delete_post(post_id=post.pk, actor=make.actor())

    ApiClient("admin").read(f"/api/posts/{post.pk}/export", expect=404)


def test_the_date_of_publication_comes_along_for_publishers() -> None:
    make.site_role("writer", "posts.view", "posts.create", "posts.edit")
    document = exported(make.post())
    past = document["post"]["publishedAt"]

    kept = ApiClient("editor").write("POST", PATH, {"document": document, "slug": "a"}, expect=201)
    left = ApiClient("writer").write("POST", PATH, {"document": document, "slug": "b"}, expect=201)
    document["post"]["publishedAt"] = "2099-01-01T00:00:00Z"
    late = ApiClient("editor").write("POST", PATH, {"document": document, "slug": "c"}, expect=201)

    assert past is not None
    assert [one["publishedAt"] for one in (kept, left, late)] == [past, None, None]
    assert kept["status"] == "draft"
