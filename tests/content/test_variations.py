"""Variations: in no list and at no address, and the effects of promoting one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from content.document.document import PostDocument
from content.models import Layer, Post, Revision
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation, promote_variation
from content.store import document_edits, post_repository
from content.translations.translate import create_translation
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def varied(post: Post, name: str = "B", **words: Any) -> Post:
    return create_variation(post_id=post.pk, variation=name, actor=make.actor(), **words)


def edit(post: Post, **patch: Json) -> None:
    make.edited(post, patch)


def change(post: Post, edit: Any) -> None:
    edit_post(post_id=post.pk, actor=make.actor(), edit=edit)


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def document(post: Post) -> PostDocument:
    return post_repository.load(now(post))


def promoted(post: Post, winner: Post) -> Post:
    return promote_variation(post_id=post.pk, variation_id=winner.pk, actor=make.actor())


def test_a_variation_is_a_draft_with_the_content_of_its_original() -> None:
    post = make.post(excerpt="Short.", taxonomyTermIds=[str(make.term("Coffee").pk)])

    made = now(varied(post, weight=30))

    one, other = document(post), document(made)
    assert (made.status, made.slug, made.path) == ("draft", post.slug, "")
    assert (made.variation_of_id, made.variation, made.variation_weight) == (post.pk, "B", 30)
    assert made.translation_group != post.translation_group
    assert (made.title, made.excerpt) == (post.title, "Short.")
    assert one.taxonomy_term_ids == other.taxonomy_term_ids
    assert [module.props for module in one.modules] == [module.props for module in other.modules]
    assert not set(one.order) & set(other.order)
    assert {m.instance_id for m in one.modules}.isdisjoint(m.instance_id for m in other.modules)
    event = Event.objects.get(name="post.created", post_id=made.pk)
    assert event.payload["variationOf"] == str(post.pk)


def test_its_answer_names_its_original_and_can_be_put_back() -> None:
    post = make.post()
    made = varied(post)
    editor = ApiClient("editor")

    answer = editor.read(f"/api/posts/{made.pk}")

    assert (answer["variationOf"], answer["variation"], answer["weight"]) == (
        str(post.pk),
        "B",
        50,
    )
    assert answer["url"] == post.path
    assert answer["canonicalUrl"] == f"http://127.0.0.1:8000{post.path}"
    back = editor.write("PUT", f"/api/posts/{made.pk}", answer)
    assert back["canonicalUrl"] == answer["canonicalUrl"]
    assert now(made).canonical_url is None
    edit(post, slug="moved")
    again = editor.read(f"/api/posts/{made.pk}")
    assert (again["slug"], again["url"]) == ("moved", "/blog/moved")
    assert again["canonicalUrl"] == "http://127.0.0.1:8000/blog/moved"
    plain = editor.read(f"/api/posts/{post.pk}")
    assert (plain["variationOf"], plain["variation"], plain["weight"]) == (None, None, None)


@pytest.mark.parametrize("name", ["", "-B", "B C", "B/../C", "Ä", "x" * 41, "B\n", "\x00"])
def test_a_name_is_plain_and_short(name: str) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as refusal:
        varied(post, name)

    assert list(refusal.value.details) == ["variation"]
    assert Post.objects.count() == 1


@pytest.mark.parametrize("weight", [0, 101, -1, True, 2**60])
def test_a_weight_is_a_part_of_a_hundred(weight: int) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as refusal:
        varied(post, weight=weight)

    assert list(refusal.value.details) == ["weight"]


def test_a_name_is_used_once_until_it_is_deleted() -> None:
    post = make.post()
    first = varied(post)

    with pytest.raises(RuleViolation) as refusal:
        varied(post)
    assert refusal.value.code == "variation_exists"
    assert varied(make.post("Other", slug="other")).variation == "B"
    delete_post(post_id=first.pk, actor=make.actor())
    varied(post)
    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=first.pk, actor=make.actor())
    assert refusal.value.code == "variation_exists"


def test_a_variation_has_no_variations_no_children_and_no_address_of_its_own() -> None:
    post = make.post("Home", type="page")
    made = varied(post)
    child = make.post("Child", type="page", slug="child")

    with pytest.raises(RuleViolation) as refusal:
        varied(made, "C")
    assert refusal.value.code == "is_variation"
    for patch in (
        {"slug": "own"},
        {"parentId": str(child.pk)},
        {"publishAt": "2099-01-01T00:00:00Z"},
    ):
        with pytest.raises(RuleViolation) as refusal:
            edit(made, **patch)
        assert (refusal.value.code, list(refusal.value.details)) == ("is_variation", list(patch))
    with pytest.raises(RuleViolation) as refusal:
        edit(child, parentId=str(made.pk))
    assert list(refusal.value.details) == ["parentId"]


def test_a_variation_is_never_published_neither_by_hand_nor_by_schedule_nor_in_the_database() -> (
    None
):
    made = varied(make.post())

    with pytest.raises(RuleViolation) as refusal:
        set_status(post_id=made.pk, status="published", actor=make.actor())
    assert (refusal.value.code, list(refusal.value.details)) == ("is_variation", ["status"])
    Post.objects.filter(pk=made.pk).update(publish_at=timezone.now() - timedelta(minutes=1))
    assert run_due_dates(make.actor("admin")) == 0
    assert now(made).status == "draft"
    with pytest.raises(IntegrityError), transaction.atomic():
        Post.objects.filter(pk=made.pk).update(status="published")


def test_it_is_in_no_list_and_at_no_address() -> None:
    post = make.post("A plain title")
    made = varied(post)
    edit(made, title="Variationword", excerpt="Variationword")
    change(
        made,
        lambda document: document_edits.update_module(
            document, document.modules[0].id, props={"title": "Variationword"}
        ),
    )
    editor, anybody = ApiClient("editor"), ApiClient()
    lists = [
        (editor, "/api/posts?allLocales=true"),
        (editor, "/api/posts?search=Variationword"),
        (editor, f"/api/posts?slug={post.slug}"),
        (editor, f"/api/posts/{post.pk}/translations"),
        (editor, f"/api/posts/{made.pk}/translations"),
        (anybody, "/api/public/posts"),
        (anybody, "/api/public/posts?search=Variationword"),
        (anybody, f"/api/public/resolve?path={post.path}"),
        (editor, "/admin/content/post/"),
        (editor, "/admin/"),
        (anybody, "/"),
        (anybody, "/blog"),
        (anybody, post.path),
        (anybody, "/sitemap.xml"),
    ]

    for client, path in lists:
        content = b"".join(client.get(path))
        assert b"Variationword" not in content, path
        assert str(made.pk).encode() not in content, path
    anybody.read(f"/api/public/posts/{made.pk}", expect=404)
    assert [row["id"] for row in editor.read("/api/posts")["data"]] == [str(post.pk)]
    listed = editor.read(f"/api/posts/{post.pk}/variations")["data"]
    assert [(row["id"], row["variation"]) for row in listed] == [(str(made.pk), "B")]


def test_tools_list_none_and_read_one_by_its_id() -> None:
    from mcp_bridge.access.principals import Principal
    from mcp_bridge.protocol.tool_calls import call_tool

    made = varied(make.post("A plain title"))
    agent = Principal(id="agent", user_id=make.user("ai_agent").pk)

    listed = call_tool(agent, "list_posts", {})
    read = call_tool(agent, "get_post_context", {"postId": str(made.pk)})

    assert str(made.pk) not in listed.content[0].text
    assert not read.is_error


def test_the_winner_gives_its_content_and_the_original_keeps_its_place() -> None:
    coffee, tea = make.term("Coffee"), make.term("Tea")
    post = make.post(taxonomyTermIds=[str(coffee.pk)], canonicalUrl="https://example.com/x")
    before = document(post)
    made = varied(post)
    hero = before.modules[0].id

    def rewrite(page: PostDocument) -> PostDocument:
        page = document_edits.patch_fields(
            page,
            {
                "title": "Won",
                "excerpt": "Better.",
                "robotsJson": {"index": False},
                "canonicalUrl": "https://example.com/variation",
                "taxonomyTermIds": [str(tea.pk)],
            },
        )
        page = document_edits.update_module(page, page.modules[0].id, props={"title": "Won"})
        page = document_edits.remove_module(page, page.modules[2].id)
        return document_edits.add_module(page, type="callout", props={"title": "New"})[0]

    change(made, rewrite)
    own = document(made)
    Event.objects.all().delete()

    promoted(post, made)

    after, kept = document(post), now(post)
    assert (kept.slug, kept.path, kept.status) == (post.slug, post.path, "published")
    assert (kept.title, kept.excerpt) == ("Won", "Better.")
    assert kept.canonical_url == "https://example.com/x"
    assert kept.robots_json == post.robots_json
    assert after.taxonomy_term_ids == (str(tea.pk),)
    assert after.order[:2] == before.order[:2]
    assert after.order[2] not in own.order
    assert after.module(hero).props["title"] == "Won"
    assert after.module(hero).instance_id == before.module(hero).instance_id
    assert [module.type for module in after.modules] == ["hero", "prose", "callout"]
    assert {m.instance_id for m in after.modules}.isdisjoint(m.instance_id for m in own.modules)
    newest = Revision.objects.filter(post=post).order_by("-version").first()
    assert (newest.reason, newest.note) == ("promoted", "variation B")
    assert f"modules.{hero}.props.title" in newest.changed_paths
    names = Event.objects.filter(post_id=post.pk).values_list("name", flat=True)
    assert list(names) == ["post.updated", "post.approve"]


def test_promote_rewrites_no_sibling_no_translation_and_no_draft() -> None:
    post = make.post()
    german = create_translation(post_id=post.pk, locale="de", actor=make.actor())
    winner, sibling = varied(post), varied(post, "C")
    edit(winner, title="Won")
    make.staged(post, {"metaTitle": "Waits"}, layer=Layer.REVIEW)
    make.staged(post, {"excerpt": "Waits too"})
    make.staged(post, {"title": "Won"}, layer=Layer.REVIEW)
    untouched = [document(item) for item in (german, winner, sibling)]
    versions = [now(item).version for item in (german, winner, sibling)]

    promoted(post, winner)

    assert [document(item) for item in (german, winner, sibling)] == untouched
    assert [now(item).version for item in (german, winner, sibling)] == versions
    layers = make.layers(post)
    # Changes that are live now are not pending any more; the others are.
    assert layers.review.changes.paths == ("post.metaTitle",)
    assert layers.ai_review.changes.paths == ("post.excerpt",)
    assert now(german).translated_from_id == post.pk
    edit(post, title="Another one")
    assert make.layers(now(post)).review.changes.paths == ("post.metaTitle",)


def test_what_moved_since_it_was_read_is_not_promoted() -> None:
    post = make.post()
    made = varied(post)
    edit(made, title="Won")
    before, editor = make.live_hash(), ApiClient("editor")
    path, winner = f"/api/posts/{post.pk}/promote-variation", {"variationId": str(made.pk)}

    for stale, named in (
        ({"version": 2}, "version"),
        ({"version": 1, "variationVersion": 1}, "variationVersion"),
        ({"variationVersion": 3}, "variationVersion"),
    ):
        refused = editor.write("POST", path, {**winner, **stale}, expect=409)
        assert (refused["code"], list(refused["details"])) == ("stale_version", [named])
    for nonsense in (-1, "1", True, 2**60, [1], 1.5):
        editor.write("POST", path, {**winner, "variationVersion": nonsense}, expect=422)
    assert make.live_hash() == before

    seen = {"version": 1, "variationVersion": 2}
    assert editor.write("POST", path, {**winner, **seen})["version"] == 2
    assert now(post).title == "Won"


def test_promoting_can_be_reverted_and_promoted_again() -> None:
    post = make.post()
    made = varied(post)
    before = document(post)
    edit(made, title="Won")
    promoted(post, made)
    editor = ApiClient("editor")
    rows = editor.read(f"/api/posts/{post.pk}/revisions")["data"]

    editor.write("POST", f"/api/posts/{post.pk}/revisions/{rows[-1]['id']}/revert", {})
    assert document(post) == before
    promoted(post, made)

    assert now(post).title == "Won"


def test_what_the_original_locked_since_stays() -> None:
    post = make.post()
    made = varied(post)
    change(
        post,
        lambda page: document_edits.add_module(
            page, type="callout", locked=True, props={"title": "Stays"}
        )[0],
    )
    before = make.live_hash()

    with pytest.raises(RuleViolation) as refusal:
        promoted(post, made)

    assert refusal.value.code == "locked_module"
    assert make.live_hash() == before


def test_threat_04_promote_takes_variations_of_that_very_post_only() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    foreign, deleted = varied(other), varied(post, "C")
    delete_post(post_id=deleted.pk, actor=make.actor())
    before = make.live_hash()

    for id_ in (foreign.pk, deleted.pk, other.pk, post.pk, "nonsense", ""):
        with pytest.raises(RuleViolation) as refusal:
            promote_variation(post_id=post.pk, variation_id=id_, actor=make.actor())
        assert list(refusal.value.details) == ["variationId"]
        assert refusal.value.code == "unknown_variation"
    assert make.live_hash() == before


@pytest.mark.parametrize("role", ["translator", "ai_agent"])
def test_threat_04_nobody_else_makes_or_promotes_one(role: str) -> None:
    post = make.post()
    made = varied(post)
    edit(made, title="Won")
    before = make.live_hash()

    with pytest.raises(NotAllowed):
        create_variation(post_id=post.pk, variation="C", actor=make.actor(role))
    with pytest.raises(NotAllowed):
        promote_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(role))
    with pytest.raises(NotAllowed):
        create_variation(post_id=post.pk, variation="C", actor=make.mcp_actor("editor"))
    with pytest.raises(NotAllowed):
        promote_variation(post_id=post.pk, variation_id=made.pk, actor=make.mcp_actor("admin"))
    assert make.live_hash() == before


def test_with_its_original_in_the_trash_nothing_comes_of_it() -> None:
    post = make.post()
    made, gone = varied(post), varied(post, "C")
    delete_post(post_id=gone.pk, actor=make.actor())
    delete_post(post_id=post.pk, actor=make.actor())

    with pytest.raises(NotFound):
        promoted(post, made)
    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=gone.pk, actor=make.actor())
    assert refusal.value.code == "original_deleted"
