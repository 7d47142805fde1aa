"""Validation of props and arguments before sending, by the rules of staging."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bridge.models import McpCall
from tests import make
from tests.diagnostics.asking import refusal, told
from tests.mcp.calling import by, done, refused

pytestmark = pytest.mark.django_db


def validated(type_: str, **props: Any) -> dict[str, Any]:
    return told("validate_mcp_payload", type=type_, props=props)


FINE = {"valid": True, "errors": {}}


def test_props_that_fit_are_valid() -> None:
    assert validated("hero", title="Tea") == FINE
    assert validated("prose", content={"markdown": "# Tea"}) == FINE
    assert validated("prose", content="Plain **Markdown**") == FINE


def test_errors_name_the_path() -> None:
    found = validated("faq", items=[{"question": 7, "answer": "x"}], titel="Tea")

    assert found["valid"] is False
    assert found["errors"]["props.items.0.question"] == ["This must be text."]
    assert found["errors"]["props.titel"] == [
        "There is no property 'titel' here. Known: heading, items."
    ]


@pytest.mark.parametrize(
    "props",
    [
        {"title": "Tea"},
        {"title": 7},
        {"title": "x" * 100_000},
        {"title": ["a"]},
        {"unknown": 1},
        {"image": {"id": 1}},
    ],
    ids=lambda props: str(props)[:30],
)
def test_it_says_what_staging_says(props: dict[str, Any]) -> None:
    post, agent = make.post(), by("ai_agent")
    call = {"postId": str(post.pk), "moduleType": "hero", "props": props}

    found = validated("hero", **props)

    assert validated("add_module_to_post_ai_review", **call) == found
    if found["valid"]:
        done("add_module_to_post_ai_review", agent, **call)
    else:
        _, text = refused("add_module_to_post_ai_review", agent, **call)
        for path, sentences in found["errors"].items():
            assert path in text
            assert sentences[0] in text


def test_arguments_of_tools_are_tried_and_nothing_is_run() -> None:
    post = make.post()
    fitting = {"postId": str(post.pk), "patch": {"title": "New"}}

    assert validated("save_post_ai_review", **fitting) == FINE
    found = validated("save_post_ai_review", **fitting, expectedVersion="x", titel=1)

    assert sorted(found["errors"]) == ["expectedVersion", "titel"]
    assert validated("list_posts", limt=5)["errors"] == {
        "limt": ["unknown argument `limt`; did you mean `limit`?"]
    }
    assert validated("list_posts", limit=True)["valid"] is False
    assert validated("get_post_context")["errors"] == {"postId": ["`postId` is required"]}
    assert not make.layers(post).ai_review.exists
    assert not McpCall.objects.exclude(tool="validate_mcp_payload").exists()


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        ("heroo", "Did you mean 'hero'?"),
        ("list_post", "Did you mean 'list_posts'?"),
        ("zzzzzz", "list_modules names the types of modules."),
        ("", "list_modules names the types of modules."),
    ],
)
def test_an_unknown_type_is_a_lesson(type_: str, said: str) -> None:
    code, text = refusal("validate_mcp_payload", type=type_, props={})

    assert code == "unknown_type"
    assert said in text


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("type_", "props"),
    [
        ("hero", {"title": "nul\x00"}),
        ("hero", {"title": "\ud800"}),
        ("hero", {"\ud800": 1}),
        ("hero", _nested(100)),
        ("hero", {"n": float("nan")}),
        ("hero", {"n": 2**80}),
        ("list_posts", {"q": "nul\x00"}),
        ("hero\x00", {}),
        ("x" * 129, {}),
        ("hero", []),
        ("hero", "text"),
        (7, {}),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_hostile_payloads_are_refused(type_: Any, props: Any) -> None:
    assert refusal("validate_mcp_payload", type=type_, props=props)[0] == "invalid_arguments"


@pytest.mark.parametrize("name", ["hero", "list_posts"])
def test_props_are_asked_for(name: str) -> None:
    code, text = refusal("validate_mcp_payload", type=name)

    assert code == "invalid_arguments"
    assert "props" in text


def test_references_are_judged_as_at_staging() -> None:
    gone = "00000000-0000-4000-8000-000000000000"

    found = validated("gallery", items=[{"imageId": gone}, {"imageId": str(make.image().pk)}])

    assert list(found["errors"]) == ["props.items.0.imageId"]
    assert gone in found["errors"]["props.items.0.imageId"][0]
    assert "search_media" in found["errors"]["props.items.0.imageId"][0]
