"""Proposing posts that do not exist yet."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from tests import make
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_a_new_post_stands_in_ai_review_only() -> None:
    before = make.live_hash()

    made = done(
        "create_post_ai_review",
        type="blog",
        title="Cold brew",
        excerpt="Slow.",
        contentMarkdown="Wait.",
        taxonomyTermIds=[str(make.term("A").pk)],
    )

    post = Post.objects.get(pk=made["postId"])
    assert (post.status, post.is_placeholder, post.title) == (
        "draft", True, "Proposed by an agent",
    )  # fmt: skip
    assert make.live_hash() == before
    document = make.layers(post).ai_review.document
    assert (document.fields["title"], document.fields["excerpt"]) == ("Cold brew", "Slow.")
    assert made["appliedModuleEdits"] == []
    assert made["slug"] == "cold-brew"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"type": "hero", "props": {"titel": "x"}}, "Did you mean 'title'?"),
        ({"type": "hero", "propz": {}}, "A moduleEdit has no key 'propz'. Did you mean 'props'?"),
        ({"type": "hero", "locked": False}, "A moduleEdit has no key 'locked'."),
        ({"type": "hero", "orderIndex": 2}, "there are: hero at 0, prose at 1, faq at 2"),
        ({"type": "prose", "orderIndex": True}, "orderIndex: Input should be a valid integer"),
        ({"type": "gallery"}, "No seeded module matches"),
        ({"props": {"title": "x"}}, "No seeded module matches"),
        ({"postModuleId": "other"}, "postModuleId"),
        ({"type": "hero", "contentMarkdown": "x"}, "no rich-text property"),
    ],
)
def test_a_failed_edit_is_told_and_fails_nothing_else(edit: dict[str, Any], words: str) -> None:
    good = {"type": "hero", "props": {"title": "Good"}}

    made = done("create_post_ai_review", type="blog", title="Edits", moduleEdits=[edit, good])

    first, second = made["appliedModuleEdits"]
    assert first["ok"] is False
    assert words in first["error"]
    assert second == {"ok": True, "postModuleId": made["seededModules"][0]["postModuleId"]}


def test_a_module_of_another_post_cannot_be_edited_through_a_new_one() -> None:
    other = make.post()
    hero = make.module_id(other, "hero")

    made = done(
        "create_post_ai_review",
        type="blog",
        title="Mine",
        moduleEdits=[{"postModuleId": hero, "props": {"title": "Taken"}}],
    )

    assert made["appliedModuleEdits"][0]["ok"] is False
    assert not make.layers(other).ai_review.exists


def test_an_edit_of_the_prose_module_wins_over_the_general_markdown() -> None:
    made = done(
        "create_post_ai_review",
        type="blog",
        title="Which",
        contentMarkdown="General.",
        moduleEdits=[{"type": "prose", "contentMarkdown": "Own."}],
    )

    post = Post.objects.get(pk=made["postId"])
    assert "Own." in str(make.layers(post).ai_review.document.to_json())
    assert "General." not in str(make.layers(post).ai_review.document.to_json())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"type": "blogg"}, "no post type named 'blogg'; known: blog"),
        ({"locale": "xx"}, "'xx' is not a language of this site. Available: en, de."),
        ({"moduleGroupName": "nope"}, "no module group named 'nope'"),
        ({"moduleGroupName": "page-default"}, "page-default is for page, not blog"),
        (
            {"slug": "how-to-brew-filter-coffee"},
            "already uses the slug 'how-to-brew-filter-coffee'",
        ),
        ({"title": "  "}, "title must not be empty"),
        ({"status": "published"}, "unknown argument `status`"),
        ({"moduleEdits": "none"}, "`moduleEdits`"),
    ],
)
def test_a_wrong_proposal_leaves_no_post_behind(arguments: dict[str, Any], words: str) -> None:
    make.post()

    _, text = refused("create_post_ai_review", **{"type": "blog", "title": "New", **arguments})

    assert words in text
