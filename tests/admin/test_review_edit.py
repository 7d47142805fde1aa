"""Editing in the review, notes of single rejections, safe changes, and number of queries."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents_app.models import AgentRun
from content.layers import reject
from content.models import Layer, Post
from content.store import document_edits
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import fields, review, url
from tests.admin.test_fields import LETTERED

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def edit_url(post: Post, path: str, layer: str = "ai-review") -> str:
    return url(post, "review/edit", f"?layer={layer}&path={quote(path)}")


def send(client: Client, post: Post, path: str, layer: str = "ai-review", **typed: Any) -> Any:
    shown = fields(client.get(edit_url(post, path, layer)), f"was.{path}")
    return client.post(edit_url(post, path, layer), {**shown, **typed})


def staged(layer: Layer = Layer.AI_REVIEW, slug: str = "coffee") -> Post:
    post = make.post(excerpt="Old excerpt", slug=slug)
    make.staged(post, {"title": "New title", "excerpt": "New excerpt"}, layer=layer)
    return post


def test_edited_words_stay_staged_and_stay_the_agents(signed_in: SignedIn) -> None:
    post, before = staged(), make.live_hash()

    answer = send(signed_in(), post, "post.title", **{"post.title": "Better title"})

    assert answer.status_code == 302
    assert answer["Location"].endswith("#c-post.title")
    view = make.layers(post).ai_review
    assert view.document.fields["title"] == "Better title"
    assert (view.marks["post.title"].agent_id, view.marks["post.title"].edited_by) == (
        "seo-specialist",
        "editor",
    )
    assert view.marks["post.excerpt"].edited_by == ""
    assert not make.layers(post).review.exists
    assert make.live_hash() == before


def test_rich_text_is_edited_as_markdown_and_a_script_gets_the_form_alone(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, content_markdown="An *old* one.")
    path = f"modules.{prose}.props.content"
    client = signed_in()

    part = client.get(edit_url(post, path), headers={"X-Part": "edit"})
    answer = client.post(
        edit_url(post, path),
        {**fields(part, f"was.{path}"), path: "A **new** one."},
        headers={"X-Part": "edit"},
    )

    assert "<html" not in part.content.decode()
    assert answer.status_code == 204
    value = make.layers(post).ai_review.document.module(prose)
    assert value is not None
    assert '"bold"' in str(value.props["content"]).replace("'", '"')


def test_concurrent_changes_are_not_overwritten(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in()
    shown = fields(client.get(edit_url(post, "post.title")), "was.post.title")
    make.staged(post, {"title": "By another agent"})

    answer = client.post(edit_url(post, "post.title"), {**shown, "post.title": "Mine"})

    assert answer.status_code == 409
    assert fields(answer, "was.post.title")["post.title"] == ["Mine"]
    assert make.layers(post).ai_review.document.fields["title"] == "By another agent"


@pytest.mark.parametrize("words", ["x" * 1_000_000, ""])
def test_words_that_no_title_can_be_are_refused_with_the_reason(
    signed_in: SignedIn, words: str
) -> None:
    post = staged()

    answer = send(signed_in(), post, "post.title", **{"post.title": words})

    assert answer.status_code == 422
    assert "field-errors" in answer.content.decode()
    assert make.layers(post).ai_review.document.fields["title"] == "New title"


@pytest.mark.parametrize(
    "path", ["", "post.nothing", "modules.x.props.y", "modules..", "é\u2028" * 90]
)
def test_a_path_that_is_not_staged_leads_back_to_the_review(signed_in: SignedIn, path: str) -> None:
    post = staged()

    answer = signed_in().get(edit_url(post, path))

    assert answer.status_code == 302
    assert answer["Location"] == review(post)


def test_a_translator_edits_review_and_not_what_an_agent_proposed(signed_in: SignedIn) -> None:
    theirs, agents = staged(Layer.REVIEW, "tea"), staged()
    client = signed_in("translator")

    assert client.get(edit_url(agents, "post.title")).status_code == 403
    assert client.get(edit_url(theirs, "post.title", "review")).status_code == 200


def test_each_rejection_has_its_own_note_and_the_rest_the_common_one(signed_in: SignedIn) -> None:
    post = staged()
    make.staged(post, {"metaTitle": "New meta"})
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")
    marks = dict.fromkeys(("post.title", "post.excerpt", "post.metaTitle"), "reject")

    client.post(
        review(post),
        {**sent, **marks, "note": "All wrong", "note.post.title": "Too long", "action": "reject"},
    )

    events = Event.objects.filter(name="post.ai-review.reject").order_by("id")
    assert [(event.payload["note"], event.payload["paths"]) for event in events] == [
        ("Too long", ["post.title"]),
        ("All wrong", ["post.excerpt", "post.metaTitle"]),
    ]
    assert not make.layers(post).ai_review.exists


def test_a_note_that_cannot_be_kept_is_refused_and_the_marks_stay(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")

    answer = client.post(
        review(post),
        {**sent, "post.title": "reject", "note.post.title": "x" * 2_001, "action": "reject"},
    )

    assert answer.status_code == 422
    assert fields(answer, "digest")["post.title"] == ["reject"]
    assert len(make.layers(post).ai_review.changes) == 2


def test_a_character_that_no_text_can_hold_is_refused(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")

    edited = send(client, post, "post.title", **{"post.title": "a\0b"})
    noted = client.post(
        review(post),
        {**sent, "post.title": "reject", "note.post.title": "a\0b", "action": "reject"},
    )

    assert (edited.status_code, noted.status_code) == (400, 400)
    assert make.layers(post).ai_review.document.fields["title"] == "New title"


def test_what_goes_as_a_whole_and_settings_are_not_safe(signed_in: SignedIn) -> None:
    post = make.post(excerpt="Plain  words")

    def edit(document: Any) -> Any:
        document, _ = document_edits.add_module(
            document, type="callout", props={"title": "Plain words"}
        )
        return document_edits.patch_fields(
            document, {"excerpt": "Plain words", "robotsJson": {"index": False}}
        )

    make.staged(post, edit=edit)
    page = signed_in().post(review(post), {"action": "accept-safe"})

    marked = fields(page, "digest")
    assert marked["post.excerpt"] == ["accept"]
    assert marked["post.robotsJson"] == ["leave"]
    assert sum(value == ["accept"] for value in marked.values()) == 1
    assert make.layers(post).ai_review.exists


def test_after_a_decision_the_next_in_the_inbox_is_named(signed_in: SignedIn) -> None:
    post, other = staged(), make.post("Tea & <b>milk</b>", slug="tea")
    make.staged(other, {"excerpt": "Waits"})
    client = signed_in()
    sent = fields(client.get(review(post)), "digest")

    answer = client.post(
        review(post), {**sent, "post.title": "accept", "action": "submit"}, follow=True
    )

    page = answer.content.decode()
    assert "1 change submitted to Review. Nothing is live yet." in page
    assert "Tea &amp; &lt;b&gt;milk&lt;/b&gt; (AI Review)" in page
    assert f'href="{review(other)}"' in page


def test_two_hundred_changes_of_every_kind_take_fifteen_queries(signed_in: SignedIn) -> None:
    topic, picture = make.term("Coffee"), make.image()
    post = make.post()
    run = AgentRun.objects.create(
        agent_id="general-assistant", scope="dropdown", post=post, by=make.user("editor"),
        by_name="editor", via="admin", status="succeeded", provider="demo", model="demo",
    )  # fmt: skip
    make.staged(make.post("Other", slug="other"), {"title": "Waits too"})

    def edit(document: Any) -> Any:
        for number in range(195):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"No. {number}"}
            )
        values = {"title": "T", "excerpt": "E", "featuredMediaId": str(picture.pk)}
        return document_edits.patch_fields(document, {**values, "taxonomyTermIds": [str(topic.pk)]})

    make.staged(post, edit=edit, by=make.agent_actor("general-assistant", str(run.pk)))
    make.staged(post, {"metaTitle": "By an account"}, by=make.actor("editor"))
    client = signed_in()
    client.get(review(post))

    with CaptureQueriesContext(connection) as caught:
        page = client.get(review(post))

    assert page.status_code == 200
    assert page.content.decode().count("data-change ") == 200
    # One of them reads the links of reviewers and their advice.
    assert len(caught) <= 15


def test_words_for_a_change_that_is_gone_are_said(signed_in: SignedIn) -> None:
    post, client = staged(), signed_in()
    path, address = "post.excerpt", edit_url(post, "post.excerpt")
    sent = fields(client.get(address), f"was.{path}")
    reject(post_id=post.pk, actor=make.actor("admin"), layer=Layer.AI_REVIEW, paths=[path])

    same = client.post(address, sent, follow=True).content.decode()
    typed = client.post(address, {**sent, path: "My <b>words"}, follow=True).content.decode()

    assert "text was not saved" not in same
    assert "Your text was not saved: My &lt;b&gt;words" in typed


MERGED: JsonObject = {
    "type": "doc",
    "content": [
        *LETTERED["content"],
        {
            "type": "table",
            "content": [
                {
                    "type": "tableRow",
                    "content": [
                        {
                            "type": "tableCell",
                            "attrs": {"colspan": 2},
                            "content": [
                                {"type": "paragraph", "content": [{"type": "text", "text": "wide"}]}
                            ],
                        }
                    ],
                },
                {
                    "type": "tableRow",
                    "content": [
                        {"type": "tableCell", "content": [{"type": "paragraph"}]},
                        {"type": "tableCell", "content": [{"type": "paragraph"}]},
                    ],
                },
            ],
        },
    ],
}


def test_the_editor_opens_with_the_document_and_saves_what_markdown_cannot_say(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    prose = make.module_id(post, "prose")
    make.staged_module(post, prose, props={"content": MERGED})
    path = f"modules.{prose}.props.content"
    client = signed_in()

    def stored() -> Any:
        module = make.layers(post).ai_review.document.module(prose)
        assert module is not None
        return module.props["content"]

    shown = client.get(edit_url(post, path)).content.decode()
    opened = html.unescape(re.findall(r'<template data-document="([^"]*)"', shown)[0])
    send(client, post, path)
    untouched = stored()
    send(client, post, path, **{f"{path}~doc": opened})
    sent_back = stored()
    changed = json.loads(opened)
    changed["content"][0]["attrs"]["start"] = 3
    send(client, post, path, **{f"{path}~doc": json.dumps(changed)})

    assert json.loads(opened) == untouched == sent_back == MERGED
    assert stored() == changed


def test_a_picker_offers_what_its_field_takes(signed_in: SignedIn) -> None:
    page, other = make.post("About us", type="page"), make.post("Beans", type="page")
    make.post("A blog post")
    make.staged(page, {"parentId": str(other.pk)}, layer=Layer.REVIEW)

    shown = signed_in().get(edit_url(page, "post.parentId", "review")).content.decode()

    options = re.findall(r'<option value="([^"]+)"', shown)
    assert options == [str(other.pk)]
    assert 'data-reference="post-reference" data-among="page"' in shown
