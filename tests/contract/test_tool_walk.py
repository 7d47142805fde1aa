"""Every tool × every role through the MCP bridge: permissions, and unchanged live content.

A new tool fails here until it is in the table.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest

from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from content.models import Layer, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.tools import all_tools
from proofroom_apps.comments.services import comment_on_post
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.mcp.tools import tables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_commands")]

ROLES: Final = ("admin", "editor", "translator", "ai_agent")
ALL: Final = frozenset(ROLES)
STAGERS: Final = frozenset({"admin", "editor", "ai_agent"})
LOGS: Final = {"proofroom_core.Event", "mcp_bridge.McpCall"}

# Who the contract lets through, and arguments that fit.
TOOLS: Final[dict[str, tuple[frozenset[str], dict[str, Any]]]] = {
    "add_module_to_post_ai_review": (STAGERS, {"postId": "POST", "moduleType": "callout"}),
    "audit_posts": (ALL, {"checks": ["seoTitle"]}),
    "check_links": (ALL, {"post": "POST"}),
    "create_post_ai_review": (STAGERS, {"type": "blog", "title": "Walked"}),
    "create_post_preview_link": (STAGERS, {"postId": "POST"}),
    "create_translation_ai_review": (STAGERS, {"postId": "POST", "locale": "de"}),
    "create_translations_ai_review_bulk": (STAGERS, {"postId": "POST", "locales": ["de"]}),
    "enable_tools": (ALL, {"names": ["list_media"]}),
    "export_post_canonical_json": (ALL, {"postId": "POST"}),
    "find_tools": (ALL, {"q": "preview links"}),
    "generate_image": (STAGERS, {"prompt": "A cup", "altText": "A cup of coffee"}),
    "get_agent_run": (STAGERS, {"runId": "RUN"}),
    "get_allowed_modules_for_post_type": (ALL, {"postType": "blog"}),
    "get_module_schema": (ALL, {"type": "hero"}),
    "get_post_context": (ALL, {"postId": "POST"}),
    "get_post_manifest": (ALL, {"postId": "POST"}),
    "get_post_type_config": (ALL, {"postType": "blog"}),
    "check_media_integrity": (ALL, {}),
    "get_media": (ALL, {"id": "FILE"}),
    "list_media": (ALL, {}),
    "list_media_categories": (ALL, {}),
    "media_where_used": (ALL, {"id": "FILE"}),
    "search_media": (ALL, {"q": "picture"}),
    "get_editorial_brief": (ALL, {"type": "blog", "locale": "de"}),
    "get_global_module": (ALL, {"globalSlug": "newsletter"}),
    "get_module_group": (ALL, {"name": "blog-default"}),
    "get_post_revision": (ALL, {"postId": "POST", "revisionId": "REVISION"}),
    "get_post_taxonomy_term_ids": (ALL, {"postId": "POST"}),
    "inspect_module_definition": (ALL, {"moduleSlug": "hero"}),
    "list_comments": (ALL, {"post": "POST"}),
    "list_global_modules": (ALL, {}),
    "list_post_revisions": (ALL, {"postId": "POST"}),
    "suggest_modules_for_layout": (ALL, {"postType": "blog", "brief": "Questions and answers"}),
    "list_registry_items": (ALL, {}),
    "list_agents": (STAGERS, {}),
    "list_module_groups": (ALL, {}),
    "list_modules": (ALL, {}),
    "list_my_proposals": (ALL, {}),
    "list_post_types": (ALL, {}),
    "list_post_preview_links": (STAGERS, {"postId": "POST"}),
    "list_post_translations": (ALL, {"postId": "POST"}),
    "list_posts": (ALL, {}),
    "list_taxonomies": (ALL, {}),
    "list_taxonomy_terms": (ALL, {"slug": "topics"}),
    "read_server_logs": (ALL, {"lines": 5}),
    "remove_post_module_ai_review": (STAGERS, {"postModuleId": "PROSE"}),
    "reply_to_comment": (ALL, {"commentId": "COMMENT", "body": "Walked"}),
    "resolve_comment": (ALL, {"commentId": "COMMENT"}),
    "revoke_post_preview_link": (STAGERS, {"postId": "POST", "linkId": "LINK"}),
    "run_agent": (STAGERS, {"agentId": "seo-specialist", "postId": "POST"}),
    "run_field_agent": (
        STAGERS,
        {"agentId": "seo-specialist", "postId": "POST", "fieldKey": "post.metaTitle", "wait": 0},
    ),
    "run_ace_command": (ALL, {"command": "check", "args": ["--list-tags"]}),
    "propose_alt_text": (STAGERS, {"mediaId": "FILE", "alt": "A cup of coffee"}),
    "reorder_modules": (STAGERS, {"post": "POST", "order": ["HERO", "FAQ", "PROSE"]}),
    "save_posts_ai_review": (
        STAGERS,
        {"changes": [{"post": "POST", "patch": {"title": "Walked"}}], "submit": True},
    ),
    "save_post_ai_review": (STAGERS, {"postId": "POST", "patch": {"title": "Walked"}}),
    "set_post_taxonomy_terms_ai_review": (STAGERS, {"postId": "POST", "taxonomyTermIds": ["TERM"]}),
    "simulate_webhook_event": (ALL, {"event": "post.published", "send": True}),
    "submit_ai_review_to_review": (STAGERS, {"postId": "POST"}),
    "tail_activity_logs": (ALL, {"limit": 5}),
    "test_local_route": (ALL, {"path": "/blog/how-to-brew-filter-coffee"}),
    "trace_url_resolution": (ALL, {"path": "/blog/how-to-brew-filter-coffee"}),
    "unstage": (STAGERS, {"post": "POST", "paths": ["post.metaDescription"]}),
    "update_post_module_ai_review": (
        STAGERS,
        {"postModuleId": "PROSE", "contentMarkdown": "Walked"},
    ),
    "validate_mcp_payload": (ALL, {"type": "hero", "props": {"title": "Walked"}}),
}


def test_every_tool_is_in_the_table() -> None:
    assert {tool.name for tool in all_tools()} == set(TOOLS)


def test_every_table_is_said_to_be_live_or_not() -> None:
    known = [*tables.LIVE, *tables.MAY_CHANGE]

    assert sorted(tables.parts()) == sorted(known)


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, names) for item in value]
    return names.get(value, value)


def _run(post: Post) -> AgentRun:
    actor = make.actor("editor")
    return create_run(agent_id="seo-specialist", scope="dropdown", actor=actor, post_id=post.pk)


def _link(post: Post) -> UUID:
    return create_preview_link(post_id=post.pk, layer="review", actor=make.actor("editor"))[0].pk


def _comment(post: Post) -> UUID:
    written = comment_on_post(post_id=post.pk, body="Shorter", actor=make.actor("editor"))
    return written.comment.pk


def arguments_of(name: str, post: Post) -> dict[str, Any]:
    """Return valid arguments of the tool for that post."""
    names = {
        "POST": str(post.pk),
        "FAQ": make.module_id(post, "faq"),
        "HERO": make.module_id(post, "hero"),
        "PROSE": make.module_id(post, "prose"),
        "TERM": str(make.term("Coffee").pk),
        "RUN": str(_run(post).pk),
        "FILE": str(make.image().pk),
        "LINK": str(_link(post)),
        "COMMENT": str(_comment(post)),
        "REVISION": str(post.revisions.earliest("version").pk),
    }
    filled: dict[str, Any] = _filled(TOOLS[name][1], names)
    return filled


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", sorted(TOOLS))
def test_each_role_gets_what_the_contract_says_and_live_content_stays(name: str, role: str) -> None:
    post = make.post()
    make.term("Coffee")
    make.global_module()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    principal = Principal(id=f"walk-{role}", user_id=make.user(role).pk, diagnostics=True)
    if name == "unstage":
        # A credential takes back only its own proposals.
        patch = {"metaDescription": "From this credential"}
        call_tool(principal, "save_post_ai_review", {"postId": str(post.pk), "patch": patch})
    review, ai_review = make.layers(post).review, make.layers(post).ai_review
    arguments = arguments_of(name, post)
    before = tables.hashes()

    result = call_tool(principal, name, arguments)

    is_let_in = role in TOOLS[name][0]
    assert tables.changed(before) <= (tables.allowed(name) if is_let_in else LOGS)
    assert Post.objects.get(pk=post.pk).status == "published"
    if not is_let_in:
        assert result.is_error
        assert result.meta["cms/error"]["code"] == "not_allowed"
        assert make.layers(post).ai_review.document == ai_review.document
        assert Post.objects.count() == 1
    else:
        assert not result.is_error, result.content[0].text
    if name not in tables.SUBMITTING:
        assert make.layers(post).review.document == review.document


@pytest.mark.parametrize("role", ROLES)
def test_a_credential_calls_only_the_tools_on_its_list(role: str) -> None:
    user = make.user(role)
    principal = Principal(id="narrow", user_id=user.pk, tools=frozenset({"list_posts"}))

    allowed = call_tool(principal, "list_posts", {})
    refused = call_tool(principal, "list_modules", {})

    assert (allowed.is_error, refused.is_error) == (False, True)


@pytest.mark.parametrize(
    "patch",
    [
        {"title": ""},
        {"title": "x" * 1_000_000},
        {"title": "nul\x00"},
        {"title": "half \ud800"},
        {"title": ["list"]},
        {"robotsJson": {"a": "half \ud800"}},
        {"robotsJson": {"a": float("inf")}},
        {"jsonldOverrides": "text"},
        {"canonicalUrl": "javascript:alert(1)"},
        {"nonsense": 1},
        {"status": "published"},
        {"publishAt": "2099-01-01T00:00:00Z"},
        {"parentId": None, "orderIndex": 5},
    ],
    ids=lambda patch: str(patch)[:40].encode("ascii", "replace").decode(),
)
def test_what_does_not_fit_is_refused_by_tools_too(patch: dict[str, Any]) -> None:
    post = make.post()
    principal = Principal(id="agent", user_id=make.user("ai_agent").pk)

    result = call_tool(principal, "save_post_ai_review", {"postId": str(post.pk), "patch": patch})

    assert result.is_error
    assert result.meta["cms/error"]["code"] != "internal", result.content[0].text
    assert not make.layers(post).ai_review.exists
