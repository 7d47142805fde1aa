"""Every content tool as every role: permission, and authorship."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from content.models import Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from proofroom.accounts.models import User
from proofroom.core.errors import NotAllowed
from proofroom.core.tools import get_tool
from proofroom.core.tools.schemas import lean_schema, result_schema
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]

STAGING = (
    "save_post_ai_review", "add_module_to_post_ai_review", "update_post_module_ai_review",
    "remove_post_module_ai_review", "set_post_taxonomy_terms_ai_review",
    "submit_ai_review_to_review", "create_post_ai_review",
)  # fmt: skip


def arguments_on(post: Post) -> dict[str, dict[str, Any]]:
    """Return arguments with which the content tools work one after another."""
    id_ = str(post.pk)
    return {
        "list_posts": {},
        "get_post_context": {"postId": id_},
        "get_post_manifest": {"postId": id_},
        "export_post_canonical_json": {"postId": id_},
        "list_post_types": {},
        "get_post_type_config": {"postType": "blog"},
        "list_modules": {},
        "get_allowed_modules_for_post_type": {"postType": "page"},
        "get_module_schema": {"type": "hero"},
        "list_module_groups": {},
        "list_taxonomies": {},
        "list_taxonomy_terms": {"slug": "topics"},
        "save_post_ai_review": {"postId": id_, "patch": {"metaTitle": "x"}},
        "add_module_to_post_ai_review": {"postId": id_, "moduleType": "callout"},
        "update_post_module_ai_review": {
            "postModuleId": make.module_id(post, "hero"), "props": {"title": "x"},
        },
        "remove_post_module_ai_review": {"postModuleId": make.module_id(post, "faq")},
        "set_post_taxonomy_terms_ai_review": {
            "postId": id_, "taxonomyTermIds": [str(make.term("A").pk)],
        },
        "submit_ai_review_to_review": {"postId": id_},
        "create_post_ai_review": {"type": "blog", "title": "Another"},
    }  # fmt: skip


@pytest.mark.parametrize("role", ["admin", "editor", "translator", "ai_agent"])
def test_each_role_may_do_what_its_rights_say_and_nobody_moves_live_content(role: str) -> None:
    post = make.post()
    calls, principal = arguments_on(post), by(role)
    before = make.live_hash()

    answers = {name: call_tool(principal, name, given) for name, given in calls.items()}

    refusals = {name for name, answer in answers.items() if answer.is_error}
    assert refusals == (set(STAGING) if role == "translator" else set())
    assert make.live_hash() == before
    for name, answer in answers.items():
        tool = get_tool(name)
        if tool is not None and tool.result is not None and not answer.is_error:
            jsonschema.validate(answer.structured_content, result_schema(tool.result))
    for name in refusals:
        assert "which translator does not have" in result_text(answers[name])


@pytest.mark.parametrize("name", ["list_posts", "save_post_ai_review", "create_post_ai_review"])
def test_a_disabled_user_is_refused_by_every_kind_of_tool(name: str) -> None:
    arguments, principal = arguments_on(make.post())[name], by("editor")
    User.objects.filter(username="editor").update(is_active=False)

    code, text = refused(name, principal, **arguments)

    assert code == "no_account"
    assert text.startswith("No active account stands behind this credential")


def test_an_editors_client_proposes_and_does_not_write_live_or_review() -> None:
    post, editor = make.post(), by("editor")

    done("save_post_ai_review", editor, postId=str(post.pk), patch={"title": "By client"})

    layers = make.layers(post)
    assert layers.live.fields["title"] == post.title
    assert not layers.review.exists
    assert layers.ai_review.document.fields["title"] == "By client"


def test_a_narrow_credential_keeps_to_its_list_whatever_agent_it_names() -> None:
    post = make.post()
    make.agent_actor("seo-specialist")
    narrow = Principal(
        id="client:n", user_id=make.user("editor").pk, tools=frozenset({"list_posts"})
    )

    done("list_posts", narrow)
    code, _ = refused(
        "save_post_ai_review",
        narrow,
        postId=str(post.pk),
        patch={"title": "x"},
        agentId="seo-specialist",
    )

    assert code == "not_allowed"


def test_authorship_is_the_named_agents_else_the_systems_and_never_a_disabled_ones(
    agent: User,
) -> None:
    post = make.post()
    writer = make.agent_actor("seo-specialist").user

    for path, named in (("metaTitle", "seo-specialist"), ("excerpt", "nobody")):
        done(
            "save_post_ai_review",
            Principal(id="token"),
            postId=str(post.pk),
            patch={path: "x"},
            agentId=named,
        )

    marks = make.layers(post).ai_review.marks
    assert (marks["post.metaTitle"].user_id, marks["post.metaTitle"].agent_id) == (
        writer.pk, "seo-specialist",
    )  # fmt: skip
    assert (marks["post.excerpt"].user_id, marks["post.excerpt"].agent_id) == (
        agent.pk, "general-assistant",
    )  # fmt: skip
    User.objects.filter(pk=writer.pk).update(is_active=False)
    code, text = refused(
        "save_post_ai_review", postId=str(post.pk), patch={"title": "x"}, agentId="seo-specialist"
    )
    assert code == "agent_switched_off"
    assert "Leave agentId out" in text


def test_no_name_of_an_agent_lends_a_right_where_the_tool_is_called_by_another_door() -> None:
    """Agents' runs call the handlers without the server's checks."""
    make.agent_actor("seo-specialist")
    post = make.post()
    tool = get_tool("save_post_ai_review")
    assert tool is not None
    arguments = tool.arguments.model_validate(
        {"postId": str(post.pk), "patch": {"title": "x"}, "agentId": "seo-specialist"}
    )

    with pytest.raises(NotAllowed):
        tool.handler(make.mcp_actor("translator"), arguments)

    assert not make.layers(post).ai_review.exists


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
def test_no_prop_may_have_a_layers_name(key: str) -> None:
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
