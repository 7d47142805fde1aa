"""Module suggestions for a layout: by role, by a brief, within the post type's limits."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from content.modules.suggestions import known_roles, stems_of
from proofroom.definitions import AIGuidance, Module, modules, post_types
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

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


def test_a_role_that_no_module_has_is_missing_and_the_known_ones_are_told() -> None:
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


def test_a_role_of_our_own_stands_before_the_closing(monkeypatch: pytest.MonkeyPatch) -> None:
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
