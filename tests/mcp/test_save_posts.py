"""Staging changes of several posts in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from content.layers import reject
from content.models import Layer
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.tools import all_tools
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

TOOL = "save_posts_ai_review"


def change(post: Any, **patch: Any) -> dict[str, Any]:
    return {"post": str(post), "patch": patch, "note": "Shorter"}


def test_each_post_is_staged_in_order_with_its_reason() -> None:
    first, second = make.post("One", slug="one"), make.post("Two", slug="two")

    answer = done(
        TOOL,
        changes=[change("/blog/two", metaTitle="Two"), change(first.pk, metaTitle="One")],
    )

    assert answer["results"] == [
        {"post": str(second.pk), "ok": True, "staged": ["post.metaTitle"]},
        {"post": str(first.pk), "ok": True, "staged": ["post.metaTitle"]},
    ]
    for post in (first, second):
        view = make.layers(post).ai_review
        assert view.document.fields["metaTitle"] == post.title
        assert view.marks["post.metaTitle"].reason == "Shorter"
        assert not make.layers(post).review.exists


def test_a_wrong_change_fails_alone_and_teaches() -> None:
    good = make.post("Good", slug="good")
    other = make.post("Other", slug="other")

    answer = done(
        TOOL,
        changes=[
            change("/blog/none", metaTitle="x"),
            change(other.pk, metatitle="x"),
            change(other.pk, slug="No Spaces", metaTitle="x"),
            change(other.pk, status="published"),
            change(good.pk, metaTitle="Fine"),
        ],
    )

    results = answer["results"]
    assert [one["ok"] for one in results] == [False, False, False, False, True]
    assert [one.get("code") for one in results[:4]] == [
        "unknown_post", "unknown_field", "invalid", "not_stageable",
    ]  # fmt: skip
    assert results[0]["post"] == "/blog/none"
    assert "Did you mean 'metaTitle'?" in results[1]["error"]
    assert "A slug may contain" in results[2]["error"]
    assert not make.layers(other).ai_review.exists
    assert make.layers(good).ai_review.document.fields["metaTitle"] == "Fine"


def test_more_than_twenty_are_refused_whole() -> None:
    post = make.post()

    code, text = refused(TOOL, changes=[change(post.pk, metaTitle=f"{n}") for n in range(21)])

    assert code == "invalid_arguments"
    assert "`changes`" in text
    assert "20" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([], "`changes`"),
        (["/blog/x"], "`changes.0`"),
        ([{"patch": {}}], "`changes.0.post` is required"),
        ([{"post": "/blog/x", "patch": {}, "notes": ""}], "did you mean `note`?"),
    ],
)
def test_wrong_arguments_are_refused_whole(changes: list[Any], words: str) -> None:
    assert words in refused(TOOL, changes=changes)[1]


def test_warnings_and_earlier_rejections_of_each_post() -> None:
    post = make.post(metaTitle="Tea")
    make.staged(post, {"metaTitle": "x" * 61})
    reject(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=make.actor("editor"),
        note="Too long",
    )

    results = done(
        TOOL, changes=[change(post.pk, metaTitle="x" * 61), change(post.pk, metaTitle="Good")]
    )["results"]

    assert [one["code"] for one in results[0]["warnings"]] == ["too_long"]
    assert [
        (one["path"], one["by"], one["note"], one.get("same"))
        for one in results[0]["rejectedBefore"]
    ] == [("post.metaTitle", "editor", "Too long", True)]
    assert "same" not in results[1]["rejectedBefore"][0]
    assert "warnings" not in results[1]


def test_every_staging_answer_tells_of_earlier_rejections() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")
    make.staged(post, {"excerpt": "One"})
    make.staged_module(post, hero, props={"subtitle": "One"})
    reject(post_id=post.pk, layer=Layer.AI_REVIEW, actor=make.actor("editor"), note="No")

    saved = done("save_post_ai_review", postId=str(post.pk), patch={"excerpt": "Two"})
    module = done("update_post_module_ai_review", postModuleId=hero, props={"subtitle": "One"})
    other = done("save_post_ai_review", postId=str(post.pk), patch={"metaTitle": "Two"})

    assert [one["path"] for one in saved["rejectedBefore"]] == ["post.excerpt"]
    assert [(one["path"], one["same"]) for one in module["rejectedBefore"]] == [
        (f"modules.{hero}.props.subtitle", True)
    ]
    assert "rejectedBefore" not in other


def test_submit_hands_on_these_values_only() -> None:
    first, second = make.post("One", slug="one"), make.post("Two", slug="two")
    make.staged(first, {"excerpt": "From another"})

    answer = done(
        TOOL,
        changes=[change(first.pk, metaTitle="First"), change(second.pk, metaTitle="Second")],
        submit=True,
    )

    assert [one["submitted"] for one in answer["results"]] == [["post.metaTitle"]] * 2
    assert make.layers(first).review.changes.paths == ("post.metaTitle",)
    assert make.layers(first).ai_review.changes.paths == ("post.excerpt",)


def test_submit_hands_on_what_the_same_call_staged_before() -> None:
    post = make.post()
    done(TOOL, changes=[change(post.pk, metaTitle="First")])

    answer = done(TOOL, changes=[change(post.pk, metaTitle="First")], submit=True)
    again = done(TOOL, changes=[change(post.pk, metaTitle="First")], submit=True)

    assert answer["results"][0]["staged"] == []
    assert answer["results"][0]["submitted"] == ["post.metaTitle"]
    assert again["results"][0]["submitted"] == []


def test_a_conflict_with_a_person_stays_and_is_named() -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "A person's"}, layer=Layer.REVIEW)

    answer = done(TOOL, changes=[change(post.pk, metaTitle="A client's")], submit=True)

    assert answer["results"][0]["submitted"] == []
    assert answer["results"][0]["conflicts"] == [
        {"path": "post.metaTitle", "review": "A person's", "aiReview": "A client's"}
    ]


def test_submit_needs_the_tool_that_submits() -> None:
    post = make.post()
    tools = frozenset(tool.name for tool in all_tools()) - {"submit_ai_review_to_review"}
    narrow = replace(by("ai_agent"), tools=tools)

    code, _text = refused(TOOL, narrow, changes=[change(post.pk, metaTitle="x")], submit=True)
    done(TOOL, narrow, changes=[change(post.pk, metaTitle="x")])

    assert code == "tool_not_allowed"


def test_terms_and_an_author_are_taken_too() -> None:
    post, term = make.post(), make.term("Coffee")
    make.agent_actor("seo-specialist")

    terms = done(TOOL, changes=[change(post.pk, taxonomyTermIds=[str(term.pk)])])
    # The agent's file allows SEO fields only.
    as_agent = done(
        TOOL,
        changes=[change(post.pk, metaTitle="Coffee"), change(post.pk, taxonomyTermIds=[])],
        agentId="seo-specialist",
    )

    assert terms["results"][0]["staged"] == ["post.taxonomyTermIds"]
    assert make.layers(post).ai_review.marks["post.metaTitle"].agent_id == "seo-specialist"
    assert as_agent["results"][1]["code"] == "field_not_allowed"


def test_a_translator_may_not_stage_posts() -> None:
    result = call_tool(
        Principal(id="client:t", user_id=make.user("translator").pk),
        TOOL,
        {"changes": [change(make.post().pk, metaTitle="x")]},
    )

    assert result.is_error
