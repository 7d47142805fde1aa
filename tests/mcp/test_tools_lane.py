"""Layer violations impossible with any key, argument or prop of a tool, and the effect of locks."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.tools import get_tool
from proofroom.core.tools.schemas import lean_schema
from tests import make
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


@pytest.mark.parametrize(
    "key",
    ["status", "publishAt", "author", "layer", "mode", "locked", "parentId", "orderIndex", "id",
     "version", "publishedAt", "createdAt", "translationGroup"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["published", None])
def test_lane_14_no_key_of_a_patch_reaches_past_the_lane(key: str, value: str | None) -> None:
    post = make.post()

    code, text = refused("save_post_ai_review", postId=str(post.pk), patch={key: value})

    assert code == "not_stageable"
    assert text.startswith(f"{key} cannot be staged. Agents propose content; people decide")


@pytest.mark.parametrize("key", ["status", "layer", "mode", "locked", "publishAt", "author"])
@pytest.mark.parametrize(
    "tool",
    ["save_post_ai_review", "add_module_to_post_ai_review", "update_post_module_ai_review",
     "remove_post_module_ai_review", "set_post_taxonomy_terms_ai_review",
     "submit_ai_review_to_review", "create_post_ai_review", "create_translation_ai_review",
     "create_translations_ai_review_bulk"],
)  # fmt: skip
def test_lane_14_no_argument_reaches_past_the_lane(tool: str, key: str) -> None:
    post = make.post()
    on_post: dict[str, dict[str, Any]] = {
        "save_post_ai_review": {"postId": str(post.pk), "patch": {"title": "x"}},
        "add_module_to_post_ai_review": {"postId": str(post.pk), "moduleType": "callout"},
        "update_post_module_ai_review": {"postModuleId": make.module_id(post, "hero")},
        "remove_post_module_ai_review": {"postModuleId": make.module_id(post, "faq")},
        "set_post_taxonomy_terms_ai_review": {"postId": str(post.pk), "taxonomyTermIds": []},
        "submit_ai_review_to_review": {"postId": str(post.pk)},
        "create_post_ai_review": {"type": "blog", "title": "x"},
        "create_translation_ai_review": {"postId": str(post.pk), "locale": "de"},
        "create_translations_ai_review_bulk": {"postId": str(post.pk), "locales": ["de"]},
    }
    arguments = on_post[tool]

    code, text = refused(tool, **arguments, **{key: "live"})

    if (tool, key) == ("update_post_module_ai_review", "locked"):
        assert code == "locked_module"
    else:
        assert code == "invalid_arguments"
        assert f"unknown argument `{key}`" in text


@pytest.mark.parametrize("value", [True, False, None])
def test_any_locked_is_refused_on_any_module_and_not_offered(value: bool | None) -> None:
    post = make.post()
    for module in ("hero", "prose"):
        code, text = refused(
            "update_post_module_ai_review",
            postModuleId=make.module_id(post, module),
            props={"title": "x"},
            locked=value,
        )
        assert (code, "leave locked out" in text) == ("locked_module", True)

    tool = get_tool("update_post_module_ai_review")
    assert tool is not None
    assert "locked" not in lean_schema(tool.arguments)["properties"]


@pytest.mark.parametrize("key", ["status", "locked", "layer", "mode", "publishAt", "author"])
def test_no_prop_of_a_module_may_be_one_of_the_lane(key: str) -> None:
    post = make.post()

    code, text = refused(
        "update_post_module_ai_review",
        postModuleId=make.module_id(post, "hero"),
        props={key: True},
    )

    assert code == "invalid_props"
    assert f"props.{key}: There is no property '{key}' here." in text


def test_a_locked_module_is_neither_removed_nor_pushed_from_its_place() -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    for tool, arguments in (
        ("remove_post_module_ai_review", {"postModuleId": hero}),
        ("update_post_module_ai_review", {"postModuleId": hero, "orderIndex": 2}),
        (
            "add_module_to_post_ai_review",
            {"postId": str(post.pk), "moduleType": "callout", "orderIndex": 0},
        ),
    ):
        code, text = refused(tool, **arguments)
        assert code == "locked_module"
        assert "locked by the module group" in text
    staged = done("update_post_module_ai_review", postModuleId=hero, props={"subtitle": "Now"})
    assert staged["staged"] == [f"modules.{hero}.props.subtitle"]
