"""The reason an agent or AI client gives for a change is stored with it, and shown while it is pending."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from content import layers
from content.models import Draft, Layer, Post
from content.store import document_edits
from content.store.layer_state import REASON_MAX, Attribution
from mcp_bridge.access.principals import Principal
from mcp_bridge.access.tokens import create_token
from mcp_bridge.call_log import principal_of
from proofroom.core.actor import Actor
from proofroom.core.json import Json
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def propose(
    post: Post, patch: dict[str, Json], *, reason: str = "", by: Actor | None = None
) -> None:
    layers.stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=by or make.agent_actor(),
        edit=lambda document: document_edits.patch_fields(document, patch),
        reason=reason,
    )


def reasons(post: Post, layer: Layer = Layer.AI_REVIEW) -> dict[str, str]:
    view = make.layers(post).view(layer)
    return {path: mark.reason for path, mark in view.marks.items()}


def test_a_reason_is_one_line_without_control_characters_and_of_bounded_length() -> None:
    post = make.post()

    propose(post, {"excerpt": "One"}, reason=" Tightened\nthe\twording.\x07\u202e\u2028 ")
    propose(post, {"metaTitle": "Two"}, reason="long " * 200)

    found = reasons(post)
    assert found["post.excerpt"] == "Tightened the wording."
    assert len(found["post.metaTitle"]) <= REASON_MAX
    assert found["post.metaTitle"].endswith("long…")


def test_a_person_who_edits_leaves_the_reason_and_an_agent_gives_its_own() -> None:
    post = make.post()
    propose(post, {"excerpt": "One"}, reason="Shorter.")

    propose(post, {"excerpt": "Two"}, reason="Mine.", by=make.actor("editor"))
    assert reasons(post) == {"post.excerpt": "Shorter."}

    propose(post, {"excerpt": "Three"}, reason="Clearer.", by=make.agent_actor("proofreader"))
    assert reasons(post) == {"post.excerpt": "Clearer."}


def test_what_a_person_stages_alone_has_no_reason() -> None:
    post = make.post()

    propose(post, {"excerpt": "One"}, reason="Because.", by=make.actor("editor"))

    assert reasons(post) == {"post.excerpt": ""}


def test_marks_of_before_have_no_reason() -> None:
    post = make.post()
    propose(post, {"excerpt": "One"}, reason="Shorter.")
    draft = Draft.objects.get(post=post)
    del draft.marks["post.excerpt"]["reason"]
    draft.save()

    assert reasons(post) == {"post.excerpt": ""}
    assert Attribution(user_id=None, user="", via="mcp", at="").reason == ""


def test_every_staging_tool_takes_a_note() -> None:
    topics = [str(make.term("Coffee").pk)]
    post, other = make.post(), make.post("Another", slug="another")
    of, hero = str(post.pk), make.module_id(post, "hero")
    added = done("add_module_to_post_ai_review", postId=of, moduleType="callout", note="Added.")
    done("save_post_ai_review", postId=of, patch={"excerpt": "x"}, note="Saved.")
    done("update_post_module_ai_review", postModuleId=hero, props={"title": "x"}, note="Updated.")
    done("remove_post_module_ai_review", postModuleId=make.module_id(post, "faq"), note="Removed.")
    done("set_post_taxonomy_terms_ai_review", postId=of, taxonomyTermIds=topics, note="Sorted.")

    found = reasons(post)
    assert found[f"modules.{added['postModuleId']}"] == "Added."
    assert found["post.excerpt"] == "Saved."
    assert found[f"modules.{hero}.props.title"] == "Updated."
    assert found[f"modules.{make.module_id(post, 'faq')}"] == "Removed."
    assert found["post.taxonomyTermIds"] == "Sorted."

    made = done("create_post_ai_review", type="blog", title="New", note="Made.")
    of_made = set(reasons(Post.objects.get(pk=made["postId"])).values())
    copied = done(
        "create_translation_ai_review", postId=str(other.pk), locale="de", note="Translated."
    )
    of_copied = set(reasons(Post.objects.get(pk=copied["translationId"])).values())
    assert (of_made, of_copied) == ({"Made."}, {"Translated."})


def test_each_translation_of_many_has_the_note() -> None:
    post = make.post()

    answer = done(
        "create_translations_ai_review_bulk", postId=str(post.pk), locales=["de"], note="All."
    )

    made = Post.objects.get(pk=answer["items"][0]["translationId"])
    assert set(reasons(made).values()) == {"All."}


def test_a_note_that_is_too_long_is_refused_and_nothing_is_staged() -> None:
    code, text = refused(
        "save_post_ai_review",
        postId=str(make.post().pk),
        patch={"excerpt": "x"},
        note="x" * (REASON_MAX + 1),
    )

    assert code == "invalid_arguments"
    assert "`note`" in text


def test_the_note_of_a_submit_is_the_reason_where_there_is_none() -> None:
    post = make.post()
    propose(post, {"excerpt": "One"}, reason="Shorter.")
    propose(post, {"metaTitle": "Two"})

    done("submit_ai_review_to_review", postId=str(post.pk), note="As discussed.")

    assert reasons(post, Layer.REVIEW) == {
        "post.excerpt": "Shorter.",
        "post.metaTitle": "As discussed.",
    }


def test_the_api_answers_the_reason_or_null(signed_in: SignedIn) -> None:
    post = make.post()
    propose(post, {"excerpt": "One"}, reason="Shorter.")
    propose(post, {"metaTitle": "Two"})

    answer = signed_in("editor").get(f"/api/posts/{post.pk}/changes?layer=ai-review").json()

    found = {change["path"]: change["reason"] for change in answer["changes"]}
    assert found == {"post.excerpt": "Shorter.", "post.metaTitle": None}


def test_review_and_inbox_show_it_as_the_words_of_an_ai(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")
    propose(post, {"excerpt": "One"}, reason="<b>Shorter</b>.")
    done("save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "Two"}, note="Clearer.")

    for page in (
        client.get(f"/admin/content/post/{post.pk}/review/?layer=ai-review").content.decode(),
        client.get("/admin/inbox/").content.decode(),
    ):
        assert 'The agent’s reason: <q dir="auto">&lt;b&gt;Shorter&lt;/b&gt;.</q>' in page
        assert 'The AI client’s reason: <q dir="auto">Clearer.</q>' in page


def test_a_line_of_the_inbox_cuts_a_long_reason(signed_in: SignedIn) -> None:
    post = make.post()
    propose(post, {"excerpt": "One"}, reason="word " * 60)

    page = signed_in("editor").get("/admin/inbox/").content.decode()

    assert "word word" in page
    assert "word " * 40 not in page


def test_every_list_says_that_a_client_wrote_in_an_agents_name(signed_in: SignedIn) -> None:
    editor = make.user("editor")
    make.agent_actor("seo-specialist")
    token, _secret = create_token(name="Cursor", user_id=editor.pk, actor=make.actor("admin"))
    cursor = Principal(id=principal_of(token), user_id=editor.pk)
    for number in range(3):
        post = make.post(f"Post {number}", slug=f"post-{number}")
        done(
            "save_post_ai_review",
            cursor,
            postId=str(post.pk),
            patch={"metaTitle": "New"},
            agentId="seo-specialist",
        )
    client, words = signed_in("editor"), "SEO specialist, by the AI client Cursor"

    inbox = client.get("/admin/inbox/").content.decode()
    assert inbox.count(f"AI: {words}") == 3
    assert f"3 identical changes by {words}" in inbox
    assert f"AI: {words}" in client.get("/admin/").content.decode()
    like = inbox.partition("/admin/inbox/like/")[2].partition('"')[0]
    assert f"by {words}" in client.get(f"/admin/inbox/like/{like}").content.decode()


def test_once_live_the_form_still_names_the_client(signed_in: SignedIn) -> None:
    post, editor = make.post(), make.user("editor")
    make.agent_actor("seo-specialist")
    token, _secret = create_token(name="Cursor", user_id=editor.pk, actor=make.actor("admin"))
    cursor = Principal(id=principal_of(token), user_id=editor.pk)
    named = {"postId": str(post.pk), "agentId": "seo-specialist"}
    done("save_post_ai_review", cursor, patch={"title": "New"}, **named)
    done("submit_ai_review_to_review", cursor, **named)
    digest = layers.digest_of(make.layers(post).review.changes)
    layers.approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)

    form = signed_in("editor").get(f"/admin/content/post/{post.pk}/change/").content.decode()

    assert "AI: SEO specialist, by the AI client Cursor, approved by admin" in form


def test_a_client_without_a_name_is_named_as_one(signed_in: SignedIn) -> None:
    post = make.post()
    done("save_post_ai_review", by("ai_agent"), postId=str(post.pk), patch={"metaTitle": "New"})

    inbox = signed_in("editor").get("/admin/inbox/").content.decode()

    assert ", by an AI client (MCP)" in inbox
