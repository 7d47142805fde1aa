"""Proposing posts that do not exist yet."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from content.models import Post
from content.modules.suggestions import known_roles, stems_of
from proofroom.core.tools import get_tool
from proofroom.core.tools.schemas import lean_schema
from proofroom.definitions import AIGuidance, Module, modules, post_types
from tests import make
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_a_new_post_is_staged_in_ai_review_only() -> None:
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
def test_a_failed_edit_is_reported_and_fails_nothing_else(edit: dict[str, Any], words: str) -> None:
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


def test_seo_fields_and_the_featured_image_are_taken_at_once() -> None:
    image = make.image()

    made = done(
        "create_post_ai_review",
        type="blog",
        title="Tea",
        metaTitle="Green tea",
        metaDescription="How to brew it",
        featuredMediaId=str(image.pk),
    )

    view = make.layers(Post.objects.get(pk=made["postId"])).ai_review
    assert {
        name: view.document.fields[name]
        for name in ("metaTitle", "metaDescription", "featuredMediaId")
    } == {
        "metaTitle": "Green tea",
        "metaDescription": "How to brew it",
        "featuredMediaId": str(image.pk),
    }


def test_an_unknown_featured_image_is_refused() -> None:
    code, text = refused(
        "create_post_ai_review",
        type="blog",
        title="Tea",
        featuredMediaId="00000000-0000-4000-8000-000000000000",
    )

    assert code == "invalid"
    assert "There is no media file with the ID" in text


def test_module_edits_have_a_schema() -> None:
    tool = get_tool("create_post_ai_review")
    assert tool is not None

    edit = lean_schema(tool.arguments)["properties"]["moduleEdits"]["items"]

    assert set(edit["properties"]) == {
        "postModuleId", "type", "orderIndex", "props", "contentMarkdown",
    }  # fmt: skip


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


BRIEF = "An article with questions and answers at the end, pictures, and the prices of three plans."


def suggested(**arguments: Any) -> dict[str, Any]:
    return done("suggest_modules_for_layout", **{"postType": "blog", **arguments})


def types(answer: dict[str, Any], role: str) -> list[str]:
    (row,) = (row for row in answer["roles"] if row["role"] == role)
    return [candidate["type"] for candidate in row["candidates"]]


def test_roles_that_are_named_come_in_the_order_of_a_page_with_the_template_first() -> None:
    answer = suggested(roles=["closing", "body", "opening"])

    assert [row["role"] for row in answer["roles"]] == ["opening", "body", "closing"]
    assert types(answer, "opening") == ["hero", "hero-with-media"]
    assert types(answer, "body")[0] == "prose"
    assert types(answer, "closing")[0] == "faq"
    assert answer["recommendedOrder"] == ["hero", "prose", "faq"]
    assert answer["missingRoles"] == []
    assert "knownRoles" not in answer


def test_a_candidate_says_why_and_when_not() -> None:
    hero = suggested(roles=["opening"])["roles"][0]["candidates"][0]

    guidance = modules.all()["hero"].ai
    assert hero["why"] == "; ".join([*guidance.use_when, "the post type's template has it"])
    assert hero["avoidWhen"] == list(guidance.avoid_when)


def test_a_brief_calls_for_the_modules_whose_guidance_has_its_words() -> None:
    answer = suggested(brief=BRIEF)

    assert answer["recommendedOrder"][:4] == ["hero", "prose", "pricing", "faq"]
    assert types(answer, "body")[0] == "pricing"
    assert types(answer, "support")[0] == "faq"
    faq = answer["roles"][2]["candidates"][0]
    assert faq["why"].startswith("answering objections or practical questions")


def test_a_brief_names_a_role_or_falls_back_on_what_every_page_has() -> None:
    assert "divider" in [row["role"] for row in suggested(brief="With a divider.")["roles"]]
    odd = suggested(brief="Kaffeekränzchen")
    assert [row["role"] for row in odd["roles"]] == ["opening", "body"]
    assert odd["recommendedOrder"] == ["hero", "prose"]


def test_a_brief_orders_the_candidates_of_roles_that_are_named() -> None:
    answer = suggested(roles=["body"], brief="Prices of three plans")

    assert [row["role"] for row in answer["roles"]] == ["body"]
    assert types(answer, "body")[0] == "pricing"


def test_without_both_every_role_there_is_comes() -> None:
    assert [row["role"] for row in suggested()["roles"]] == list(known_roles())
    assert suggested(brief="  ")["roles"] == suggested()["roles"]


def test_the_same_question_has_the_same_answer() -> None:
    assert suggested(brief=BRIEF) == suggested(brief=BRIEF)
    assert suggested(roles=["body", "opening"]) == suggested(roles=["opening", "body", "body"])


def test_what_is_excluded_is_left_out_and_a_role_may_go_missing() -> None:
    answer = suggested(roles=["opening", "body"], exclude=["hero", "hero-with-media", "prose"])

    assert answer["missingRoles"] == ["opening"]
    assert "knownRoles" not in answer
    assert "prose" not in types(answer, "body")


def test_an_unknown_module_role_error_lists_the_known_ones() -> None:
    answer = suggested(roles=["cta", "opening"])

    assert answer["missingRoles"] == ["cta"]
    assert answer["knownRoles"] == list(known_roles())
    assert answer["recommendedOrder"] == ["hero"]


@pytest.mark.parametrize("most", [1, 5])
def test_at_most_so_many_for_each_role(most: int) -> None:
    assert len(types(suggested(roles=["body"], maxPerRole=most), "body")) == most


def test_only_what_the_post_type_allows_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_types.all()["blog"], "allowed_modules", ("prose", "callout"))

    answer = suggested()

    found = {one["type"] for row in answer["roles"] for one in row["candidates"]}
    assert found == {"prose", "callout"}
    assert suggested(roles=["opening"])["missingRoles"] == ["opening"]


class Poem(Module):
    name: ClassVar = "poem"
    label: ClassVar = "Poem"
    description: ClassVar = "Verses."
    ai: ClassVar = AIGuidance(layout_roles=("interlude",))


def test_a_custom_module_role_precedes_the_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "_found", {**modules.all(), "poem": Poem})

    answer = suggested(roles=["closing", "interlude", "body"])

    assert [row["role"] for row in answer["roles"]] == ["body", "interlude", "closing"]
    assert answer["roles"][1]["candidates"] == [{"type": "poem", "why": "Verses.", "avoidWhen": []}]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"postType": "blogs"}, "no post type named 'blogs'"),
        ({"exclude": ["heros"]}, "Did you mean 'hero'?"),
        ({"maxPerRole": 0}, "`maxPerRole`"),
        ({"maxPerRole": True}, "`maxPerRole`"),
        ({"roles": [""]}, "`roles.0`"),
        ({"roles": ["x"] * 21}, "`roles`"),
        ({"brief": "x" * 5_001}, "`brief`"),
        ({"brief": "nul\x00"}, "brief"),
        ({"brief": ["list"]}, "`brief`"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], words: str) -> None:
    _, text = refused("suggest_modules_for_layout", **{"postType": "blog", **arguments})

    assert words in text


def test_words_lose_case_accents_and_ending() -> None:
    assert stems_of("Questions, QUESTION") == stems_of("question") == {"question"}
    assert stems_of("pricing prices") == stems_of("price")
    assert stems_of("about it at an end") == frozenset()
