"""Every tool works under the role of agents, and an agent's run from its start to its end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agents_app.runs.creation import create_run
from agents_app.runs.execution import execute_run
from content.layers import submit
from content.models import CopyOrigin, Draft, Layer, Post, QueuedChange
from content.posts.create import propose_post
from content.store import search
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.core.caching.content_tags import tag_of_post
from proofroom.core.models import ContentVersion
from tests import make
from tests.contract.test_tool_walk import TOOLS, arguments_of
from tests.lane.role import as_lane
from tests.mcp.tools import tables

pytestmark = [
    pytest.mark.services,
    pytest.mark.usefixtures("role", "quick_commands", "variants_later"),
]


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    principal = Principal(id="client", user_id=make.user("editor").pk, diagnostics=True)
    with as_lane():
        result = call_tool(principal, tool, arguments)
    assert not result.is_error, result_text(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_does_under_the_role_what_it_does_without(name: str) -> None:
    post = make.post()
    make.term("Coffee")
    make.global_module()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    if name == "unstage":
        # A credential takes back only its own proposals.
        patch = {"metaDescription": "From this credential"}
        call("save_post_ai_review", postId=str(post.pk), patch=patch)
    arguments = arguments_of(name, post)
    before = tables.hashes()

    call(name, **arguments)

    assert tables.changed(before) <= tables.allowed(name)


def test_a_proposed_post_is_the_same_under_the_role() -> None:
    as_usual = propose_post(actor=make.mcp_actor(), type="blog", fields={"title": "Usual"}).post
    number = ContentVersion.objects.get().number

    made = call("create_post_ai_review", type="blog", title="Arabica")
    post = Post.objects.get(pk=made["postId"])

    own = {"id", "slug", "path", "created_at", "updated_at", "translation_group", "author_id"}
    columns = [field.attname for field in Post._meta.concrete_fields if field.attname not in own]
    assert [getattr(post, one) for one in columns] == [getattr(as_usual, one) for one in columns]
    version = ContentVersion.objects.get()
    assert version.number == number + 1
    assert version.changes.startswith(f"{number + 1} ")
    assert f" {tag_of_post(post.pk)}\n" in version.changes
    revision, usual = post.revisions.get(), as_usual.revisions.get()
    assert (revision.version, revision.reason, revision.document["modules"]) == (1, "created", [])
    assert revision.document.keys() == usual.document.keys()
    found = search.find_posts(Post.objects.alive(), "proposed")
    assert {row.pk for row in found[:9]} == {post.pk, as_usual.pk}
    assert make.layers(post).ai_review.document.fields["title"] == "Arabica"


def test_translations_are_proposed_under_the_role() -> None:
    post = make.post()

    made = call("create_translation_ai_review", postId=str(post.pk), locale="de")

    german = Post.objects.get(pk=made["translationId"])
    assert german.translation_group == post.translation_group
    assert CopyOrigin.objects.get().post_id == german.pk


@pytest.mark.parametrize(
    "staged",
    [
        {"title": "By the client"},
        {"title": "By the client", "excerpt": "New", "metaTitle": "Other"},
        {"excerpt": "As the person wrote"},
    ],
)
def test_a_submit_is_the_same_under_the_role(staged: dict[str, Any]) -> None:
    posts = []
    for word in ("One", "Two"):
        post = make.post(word, slug=word.lower())
        make.staged(post, {"excerpt": "As the person wrote"}, layer=Layer.REVIEW)
        make.staged(post, staged, by=make.mcp_actor())
        make.staged_module(post, make.module_id(post, "hero"), props={"title": "Hot"})
        posts.append(post)

    submit(post_id=posts[0].pk, actor=make.mcp_actor(), note="Please look")
    with as_lane():
        submit(post_id=posts[1].pk, actor=make.mcp_actor(), note="Please look")

    assert _state(posts[1]) == _state(posts[0])
    assert make.layers(posts[1]).review.exists


def test_a_person_keeps_what_they_staged_when_a_client_submits_under_the_role() -> None:
    post = make.post()
    make.staged(post, {"title": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"title": "By a client", "excerpt": "New"})

    answer = call("submit_ai_review_to_review", postId=str(post.pk))

    layers = make.layers(post)
    assert answer["submitted"] == ["post.excerpt"]
    assert [one["path"] for one in answer["conflicts"]] == ["post.title"]
    assert layers.review.document.fields["title"] == "By a person"
    assert layers.review.document.fields["excerpt"] == "New"
    assert layers.review.marks["post.title"].via == "api"
    assert layers.ai_review.changes.paths == ("post.title",)


@pytest.mark.parametrize("change", ["added", "removed", "moved", "back"])
def test_modules_are_submitted_under_the_role(change: str) -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    if change == "added":
        make.staged_addition(post, type="callout")
    elif change == "removed":
        call("remove_post_module_ai_review", postModuleId=make.module_id(post, "faq"))
    elif change == "moved":
        call("update_post_module_ai_review", postModuleId=make.module_id(post, "faq"), orderIndex=1)
    else:
        make.staged_module(post, hero, props={"title": "Hot"})
        submit(post_id=post.pk, actor=make.mcp_actor())
        live = make.layers(post).live.module(hero)
        assert live is not None
        make.staged_module(post, hero, props={"title": live.props["title"]})
    wanted = make.layers(post).ai_review.document

    call("submit_ai_review_to_review", postId=str(post.pk))

    layers = make.layers(post)
    assert layers.review.document == wanted
    assert not layers.ai_review.exists
    assert layers.review.exists == (change != "back")


def test_images_of_review_are_noted_where_a_client_submits_them() -> None:
    post, image = make.post(), make.image()
    call("save_post_ai_review", postId=str(post.pk), patch={"featuredMediaId": str(image.pk)})

    call("submit_ai_review_to_review", postId=str(post.pk))

    assert [use.layer for use in image.references.all()] == ["review"]


@pytest.mark.parametrize("scope", ["dropdown", "field"])
def test_a_run_of_an_agent_goes_from_its_start_to_its_end(scope: str) -> None:
    post, live = make.post(), make.live_hash()
    field = {"field_key": "post.metaTitle"} if scope == "field" else {}
    run = create_run(
        agent_id="seo-specialist",
        scope=scope,
        actor=make.actor("editor"),
        post_id=post.pk,
        **field,
    )

    with as_lane():
        execute_run(run.pk)

    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    assert run.steps.exists()
    assert make.live_hash() == live
    if scope == "dropdown":
        assert run.staged
        assert make.layers(post).ai_review.exists


def test_a_test_of_a_webhook_is_sent_under_the_role() -> None:
    make.webhook("For tests", test=True)

    answer = call("simulate_webhook_event", event="post.published", send=True)

    assert answer


def _state(post: Post) -> object:
    """Return the layers of a post, their authors and their inbox rows, without what differs between any two posts."""
    layers = make.layers(post)
    names = {post.slug: "slug", post.title: "title", str(post.pk): "post"}
    names |= {module.id: f"module-{place}" for place, module in enumerate(layers.live.modules)}
    names |= {
        module.instance_id: f"instance-{place}" for place, module in enumerate(layers.live.modules)
    }
    drafts = Draft.objects.filter(post=post).order_by("layer")
    rows = QueuedChange.objects.filter(post=post).order_by("layer", "path")
    text = json.dumps(
        [
            [
                [
                    one.layer,
                    one.version,
                    one.is_empty,
                    one.base,
                    one.document,
                    one.marks,
                    one.updated_by_id,
                ]
                for one in drafts
            ],
            [
                [one.layer, one.path, one.kind, one.weight, one.author_name, one.via, one.reason]
                for one in rows
            ],
        ],
        sort_keys=True,
    )
    for name, shown in names.items():
        text = text.replace(name, shown)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "moment", text)
