"""References of a value must exist in every interface; previously stored ones may be missing."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.document.changes import diff
from content.document.document import ModuleDocument, PostDocument
from content.find_replace.services import find_and_replace
from content.layers import approve, digest_of, revert_run, revert_to_revision, stage, submit
from content.models import Layer, Post
from content.modules.global_modules import create_global, edit_global, revert_global
from content.modules.module_groups import create_group, edit_group
from content.posts.create import create_post, propose_post
from content.posts.edit import edit_post
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation, promote_variation
from content.rules.references import drop_missing_references
from content.store import document_edits
from content.translations.translate import create_translation, propose_translation
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.shared_content.revisions import list_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE
from tests import make
from tests.admin.pages import fields, url
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.mcp.calling import done
from tests.mcp.calling import refused as refused_tool

pytestmark = pytest.mark.django_db

GONE = "00000000-0000-4000-8000-000000000000"
GONE_FILE = "/media/ab/" + "ab" * 16 + ".png"
Sent = tuple[str, JsonObject, str, str]


def rich(src: str, href: str = "/") -> JsonObject:
    link: JsonObject = {"type": "link", "attrs": {"href": href}}
    return {
        "type": "doc",
        "content": [
            {
                "type": "paragraph",
                "content": [
                    {"type": "image", "attrs": {"src": src, "alt": "A cup"}},
                    {"type": "text", "text": "a cup", "marks": [link]},
                ],
            }
        ],
    }


SENT: dict[str, Sent] = {
    "media": ("hero", {"imageId": GONE}, "props.imageId", "unknown_media"),
    "media in a list": (
        "gallery",
        {"items": [{"caption": "One"}, {"imageId": GONE}]},
        "props.items.1.imageId",
        "unknown_media",
    ),
    "a post among others": ("blog-list", {"postIds": [GONE]}, "props.postIds.0", "unknown_post"),
    "a term": ("blog-list", {"termId": GONE}, "props.termId", "unknown_term"),
    "a form": ("form", {"form": "nowhere"}, "props.form", "unknown_form"),
    "a picture in rich text": (
        "prose",
        {"content": rich(GONE_FILE)},
        "props.content",
        "unknown_media",
    ),
    "a link in rich text": (
        "prose",
        {"content": rich("https://example.com/a.png", GONE_FILE)},
        "props.content",
        "unknown_media",
    ),
    "rich text in a list": (
        "faq",
        {"items": [{"question": "Why?", "answer": rich(GONE_FILE)}]},
        "props.items.0.answer",
        "unknown_media",
    ),
    "a link": ("hero", {"ctaUrl": GONE_FILE}, "props.ctaUrl", "unknown_media"),
}
kinds = pytest.mark.parametrize("kind", SENT)


def page(**props: Any) -> Post:
    """Return a page with one module of each sent type."""

    def fill(document: PostDocument) -> PostDocument:
        for type_ in dict.fromkeys(sent[0] for sent in SENT.values()):
            document, _ = document_edits.add_module(document, type=type_, props=props.get(type_))
        return document

    return create_post(
        actor=make.actor("admin"), type="page", fields={"title": "Kettle"}, edit=fill
    )


def dead_picture(post: Post, items: list[JsonObject] | None = None) -> str:
    """Return the id of a deleted file that the post's gallery references."""
    asset = make.image()
    id_ = str(asset.pk)
    set_props(post, "gallery", {"items": [*(items or []), {"imageId": id_, "caption": "One"}]})
    asset.delete()
    return id_


def set_props(post: Post, type_: str, props: JsonObject) -> None:
    module_id = make.module_id(post, type_)
    make.changed_module(post, module_id, props=props, by=make.actor("admin"))


def gallery(post: Post) -> Any:
    post.refresh_from_db()
    module = make.layers(post).live.module(make.module_id(post, "gallery"))
    assert module is not None
    return module.props["items"]


@kinds
def test_rest_refuses_it_wherever_modules_are_written(kind: str) -> None:
    type_, props, path, code = SENT[kind]
    post = page()
    id_ = make.module_id(post, type_)
    entry = {"type": type_, "props": props}
    staged = {"modules": [{"postModuleId": id_, "props": props}]}
    new = {"type": "page", "title": "New", "modules": [entry]}
    shared = {"globalSlug": "shared", "label": "Shared", **entry}

    refused("POST", "/api/posts", new, 422, code, f"modules.0.{path}")
    refused("POST", f"/api/posts/{post.pk}/modules", entry, 422, code, path)
    refused("PUT", f"/api/post-modules/{id_}", {"props": props}, 422, code, path)
    refused("PUT", f"/api/posts/{post.pk}/review", staged, 422, code, f"modules.{id_}.{path}")
    refused("POST", "/api/modules/global", shared, 422, code, path)


@kinds
def test_rest_refuses_it_in_shared_modules_overrides_groups_and_imports(kind: str) -> None:
    type_, props, path, code = SENT[kind]
    post = page()
    shared = create_global(actor=make.actor("admin"), slug="shared", type=type_)
    placed = make.placed(post, shared)
    over = path.replace("props", "overrides", 1)
    staged = {"modules": [{"postModuleId": placed, "overrides": props}]}
    place = {"type": type_, "props": props}
    group = {"name": "mine", "label": "Mine", "postType": "page", "modules": [place]}
    document = {
        "schemaVersion": 1,
        "post": {"type": "page", "locale": "en", "title": "Imported"},
        "modules": [place],
    }

    refused("PUT", "/api/modules/global/shared", {"props": props}, 422, code, path)
    refused("PUT", f"/api/post-modules/{placed}", {"overrides": props}, 422, code, over)
    refused("PUT", f"/api/posts/{post.pk}/review", staged, 422, code, f"modules.{placed}.{over}")
    refused("POST", "/api/module-groups", group, 422, code, f"modules.0.{path}", role="admin")
    refused("POST", "/api/posts/import", document, 422, code, f"modules.0.{path}")


@kinds
def test_tools_refuse_it_and_say_what_finds_one(kind: str) -> None:
    type_, props, path, code = SENT[kind]
    post = page()
    id_ = make.module_id(post, type_)
    finder = {
        "unknown_media": "search_media",
        "unknown_post": "list_posts",
        "unknown_term": "list_taxonomy_terms",
        "unknown_form": "list_registry_items",
    }[code]

    added = refused_tool(
        "add_module_to_post_ai_review", postId=str(post.pk), moduleType=type_, props=props
    )
    changed = refused_tool("update_post_module_ai_review", postModuleId=id_, props=props)

    for found, text in (added, changed):
        assert found == code
        assert finder in text
        assert f"leave {path} out" in text


@pytest.mark.parametrize("name", ["customFields.logoId", "featuredMediaId"])
def test_post_fields_refuse_it(name: str) -> None:
    post = create_post(actor=make.actor("admin"), type="company", fields={"title": "Ada"})
    patch: dict[str, Any] = {name: GONE}
    code = "invalid"
    if "." in name:
        patch, code = {"customFields": {"logoId": GONE}}, "unknown_media"
    new = {"type": "company", "title": "Eve", **patch}

    refused("POST", "/api/posts", new, 422, code, name)
    refused("PUT", f"/api/posts/{post.pk}", patch, 422, code, name)
    refused("PUT", f"/api/posts/{post.pk}/review", patch, 422, code, name)
    refused_tool("save_post_ai_review", postId=str(post.pk), patch=patch)


@pytest.mark.parametrize(
    ("type_", "prop", "value", "sentence"),
    [
        ("hero", "imageId", GONE, f"There is no media file with the ID {GONE}."),
        ("blog-list", "postIds", GONE, f"No post has the ID {GONE}."),
        ("blog-list", "termId", GONE, f"No taxonomy term has the ID {GONE}."),
        ("form", "form", "nowhere", "No form has the slug nowhere."),
        ("prose", "content", f"![A cup]({GONE_FILE})", "There is no media file at the address"),
    ],
)
def test_the_editor_says_it_at_the_field(
    client: Any, type_: str, prop: str, value: str, sentence: str
) -> None:
    post = page()
    client.force_login(make.user("editor"))
    sent = fields(client.get(url(post)))
    name = f"modules.{make.module_id(post, type_)}.props.{prop}"
    before = make.live_hash()

    for do in ("save", "save-review"):
        answer = client.post(url(post), {**sent, name: value, "do": do})

        assert answer.status_code == 422
        assert sentence in answer.content.decode()
    assert make.live_hash() == before
    assert not make.layers(post).review.exists


def test_what_is_in_the_trash_is_not_there() -> None:
    post, other = page(), make.post()
    actor = make.actor("admin")
    delete_post(post_id=other.pk, actor=actor)
    id_ = make.module_id(post, "blog-list")
    body = {"props": {"postIds": [str(other.pk)]}}

    refused("PUT", f"/api/post-modules/{id_}", body, 422, "unknown_post", "props.postIds.0")

    restore_post(post_id=other.pk, actor=actor)
    ApiClient("editor").write("PUT", f"/api/post-modules/{id_}", body)


def test_every_place_is_named_at_once() -> None:
    post = page()
    id_ = make.module_id(post, "gallery")
    items = [{"imageId": GONE}, {"imageId": str(make.image().pk)}, {"imageId": str(uuid4())}]

    refused(
        "PUT",
        f"/api/post-modules/{id_}",
        {"props": {"items": items}},
        422,
        "unknown_media",
        "props.items.0.imageId",
        "props.items.2.imageId",
    )


def test_what_is_there_is_taken() -> None:
    post, picture = page(), make.image()
    make.form("contact")
    client = ApiClient("editor")
    content = rich(f"/media/{picture.file.name}", "/media/a-file-of-the-server.pdf")
    for type_, props in (
        ("hero", {"imageId": "{" + str(picture.pk).upper() + "}", "ctaUrl": "/media/legacy.pdf"}),
        ("blog-list", {"postIds": [str(make.post().pk)], "termId": str(make.term("Tea").pk)}),
        ("form", {"form": "contact"}),
        ("prose", {"content": content}),
    ):
        path = f"/api/post-modules/{make.module_id(post, type_)}"
        client.write("PUT", path, {"props": props})
    prose = make.layers(post).live.module(make.module_id(post, "prose"))
    assert prose is not None
    assert prose.props == {"content": content}


def test_what_is_gone_holds_up_no_other_change() -> None:
    post = page()
    id_ = dead_picture(post)
    module_id = make.module_id(post, "gallery")
    client = ApiClient("editor")
    items: list[JsonObject] = [{"caption": "New"}, {"imageId": id_, "caption": "Changed"}]

    client.write("PUT", f"/api/posts/{post.pk}", {"title": "Another"})
    client.write("PUT", f"/api/post-modules/{module_id}", {"props": {"heading": "Cups"}})
    # The same file in the same list, its item changed and moved.
    client.write("PUT", f"/api/post-modules/{module_id}", {"props": {"items": items}})
    staged = {"modules": [{"postModuleId": module_id, "props": {"items": items[::-1]}}]}
    client.write("PUT", f"/api/posts/{post.pk}/review", staged)
    digest = digest_of(make.layers(post).review.changes)
    client.write("POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest})

    assert [item["imageId"] for item in gallery(post)] == [id_, None]
    # Once more than before is a new reference.
    refused(
        "PUT",
        f"/api/post-modules/{module_id}",
        {"props": {"items": [{"imageId": id_}, {"imageId": id_}]}},
        422,
        "unknown_media",
        "props.items.1.imageId",
    )


def test_a_staged_reference_that_vanished_is_named_at_approval_and_the_rest_can_be_approved() -> (
    None
):
    post, picture = page(), make.image()
    module_id, id_ = make.module_id(post, "hero"), str(picture.pk)
    client = ApiClient("editor")
    props = {"imageId": id_, "title": "New"}
    client.write(
        "PUT",
        f"/api/posts/{post.pk}/review",
        {"title": "Also new", "modules": [{"postModuleId": module_id, "props": props}]},
    )
    picture.delete()
    digest = digest_of(make.layers(post).review.changes)
    approve_path = f"/api/posts/{post.pk}/review/approve"
    path = f"modules.{module_id}.props.imageId"

    answer = refused("POST", approve_path, {"digest": digest}, 422, "unknown_media", path)
    paths = ["post.title", f"modules.{module_id}.props.title"]
    client.write("POST", approve_path, {"digest": digest, "paths": paths})

    assert id_ in answer["error"]
    assert make.layers(post).review.changes.paths == (path,)
    client.write("POST", f"/api/posts/{post.pk}/review/reject", {"paths": [path]})


def test_a_vanished_reference_is_named_when_ai_review_is_submitted() -> None:
    post, picture = page(), make.image()
    module_id = make.module_id(post, "hero")
    done(
        "update_post_module_ai_review",
        postModuleId=module_id,
        props={"imageId": str(picture.pk), "title": "New"},
    )
    picture.delete()

    with pytest.raises(RuleViolation) as caught:
        submit(post_id=post.pk, actor=make.actor("editor"))
    submit(post_id=post.pk, actor=make.actor("editor"), paths=[f"modules.{module_id}.props.title"])

    assert list(caught.value.details) == [f"modules.{module_id}.props.imageId"]


def test_copies_take_over_what_is_gone() -> None:
    post = page()
    id_ = dead_picture(post)
    actor = make.actor("admin")

    german = create_translation(post_id=post.pk, locale="de", actor=actor)
    variation = create_variation(post_id=post.pk, variation="B", actor=actor)
    ApiClient("admin").write("PUT", f"/api/posts/{variation.pk}", {"title": "B"})
    promote_variation(post_id=post.pk, variation_id=variation.pk, actor=actor)

    assert [gallery(of)[0]["imageId"] for of in (german, variation, post)] == [id_] * 3
    Post.objects.filter(pk=german.pk).delete()
    proposed = propose_translation(post_id=post.pk, locale="de", actor=make.agent_actor())
    module = next(m for m in proposed.staged.document.modules if m.type == "gallery")
    items: Any = module.props["items"]
    assert items[0]["imageId"] == id_


def test_a_group_whose_file_is_gone_still_makes_posts_and_can_be_changed() -> None:
    asset, actor = make.image(), make.actor("admin")
    id_ = str(asset.pk)
    place: JsonObject = {"type": "hero", "props": {"imageId": id_, "title": "Here"}}
    create_group(actor=actor, name="mine", label="Mine", post_type="page", modules=[place])
    asset.delete()

    made = create_post(actor=actor, type="page", fields={"title": "Made"}, module_group="mine")
    edit_group(actor=actor, name="mine", modules=[{"type": "prose"}, place])
    proposed = propose_post(
        actor=make.agent_actor(), type="page", fields={"title": "Idea"}, module_group="mine"
    )

    assert make.layers(made).live.modules[0].props["imageId"] == id_
    assert [module.type for module in proposed.staged.document.modules] == ["prose", "hero"]


def test_a_revert_leaves_out_what_is_gone_and_says_so() -> None:
    post, actor = page(), make.actor("admin")
    kept, asset, chosen = make.image(), make.image(), make.post()
    items: list[JsonObject] = [{"imageId": str(asset.pk)}, {"imageId": str(kept.pk)}]
    set_props(post, "gallery", {"items": items})
    set_props(post, "blog-list", {"postIds": [str(chosen.pk), str(post.pk)]})
    post.refresh_from_db()
    revision = post.revisions.get(version=post.version)
    set_props(post, "gallery", {"items": []})
    set_props(post, "blog-list", {"postIds": []})
    asset.delete()
    delete_post(post_id=chosen.pk, actor=actor)

    revert_to_revision(post_id=post.pk, revision_id=revision.pk, actor=actor)

    assert [item["imageId"] for item in gallery(post)] == [None, str(kept.pk)]
    listed = make.layers(post).live.module(make.module_id(post, "blog-list"))
    assert listed is not None
    assert listed.props["postIds"] == [str(post.pk)]
    note = post.revisions.order_by("-version")[0].note
    assert f"modules.{make.module_id(post, 'gallery')}.props.items.0.imageId" in note


def test_what_an_agent_did_can_be_undone_when_the_file_before_it_is_gone() -> None:
    post, old = page(), make.image()
    set_props(post, "hero", {"imageId": str(old.pk)})
    module_id = make.module_id(post, "hero")
    stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=make.agent_actor(run_id="run-1"),
        edit=lambda document: document_edits.update_module(
            document, module_id, props={"imageId": None, "title": "By a run"}
        ),
    )
    submit(post_id=post.pk, actor=make.actor("editor"))
    approve(
        post_id=post.pk,
        actor=make.actor("editor", via="admin"),
        digest=digest_of(make.layers(post).review.changes),
    )
    old.delete()

    revert_run(post_id=post.pk, run_id="run-1", actor=make.actor("admin"))

    hero = make.layers(post).live.module(module_id)
    assert hero is not None
    assert (hero.props["imageId"], hero.props["title"]) == (None, "")


def test_a_shared_module_is_reverted_without_what_is_gone() -> None:
    asset, actor = make.image(), make.actor("admin")
    props: JsonObject = {"imageId": str(asset.pk), "title": "First"}
    shared = create_global(actor=actor, slug="shared", type="hero", props=props)
    edit_global(actor=actor, slug="shared", props={"imageId": None, "title": "Second"})
    first = list_revisions(GLOBAL_MODULE, shared.pk).get(version=1)
    asset.delete()

    reverted = revert_global(actor=actor, slug="shared", revision_id=first.pk)

    assert (reverted.props["imageId"], reverted.props["title"]) == (None, "First")


def test_find_and_replace_changes_texts_beside_what_is_gone() -> None:
    post = page(gallery={"heading": "Kettles"})
    id_ = dead_picture(post, [{"caption": "Kettles"}])

    done_ = find_and_replace(
        actor=make.actor("admin"), find="Kettles", replace="Cups", tables=["modules"]
    )

    assert done_.counts == {"modules": 2}
    assert [item["caption"] for item in gallery(post)] == ["Cups", "One"]
    assert gallery(post)[1]["imageId"] == id_


def naming(document: PostDocument, number: int) -> PostDocument:
    posts = [str(uuid4()) for _ in range(number)]
    for type_, props in (
        ("gallery", {"items": [{"imageId": str(uuid4())} for _ in range(number)]}),
        ("blog-list", {"postIds": posts, "termId": str(uuid4())}),
        ("form", {"form": f"form-{number}"}),
        ("prose", {"content": rich(GONE_FILE)}),
    ):
        document, _ = document_edits.add_module(document, type=type_, props=props)
    return document


@pytest.mark.parametrize("number", [1, 50])
def test_it_takes_four_queries_however_much_is_named(number: int) -> None:
    post = page()

    with CaptureQueriesContext(connection) as caught, pytest.raises(RuleViolation):
        edit_post(
            post_id=post.pk,
            actor=make.actor("admin"),
            edit=lambda document: naming(document, number),
        )

    asked = [query["sql"].split(" FROM ")[-1] for query in caught if "SELECT" in query["sql"]]
    named = ("media_asset", "proofroom_taxonomies_term", "forms_formdefinition")
    assert [sum(name in sql for sql in asked) for name in named] == [1, 1, 1]
    assert sum('"content_post"."id" IN' in sql for sql in asked) == 1
    assert len(asked) == 8, "who, the post, its modules, its terms; files, posts, terms, forms"


def test_what_is_no_mark_of_a_stored_text_is_passed_over() -> None:
    text: JsonObject = {"type": "text", "text": "Coffee", "marks": ["bold"]}
    content: JsonObject = {"type": "doc", "content": [{"type": "paragraph", "content": [text]}]}
    prose = ModuleDocument(id=GONE, type="prose", instance_id=GONE, props={"content": content})
    before = PostDocument(type="page", locale="en", fields={})
    after = before.with_module(prose)

    assert drop_missing_references(before, after, diff(before, after)) == (after, [])
