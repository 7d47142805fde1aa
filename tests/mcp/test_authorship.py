"""Authorship of a tool's changes, and the record at every path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents_app.definitions.agents import switch_agent
from content.layers import approve, digest_of
from content.models import Post, Provenance
from mcp_bridge.access.principals import Principal
from proofroom.accounts.models import User
from tests import make
from tests.mcp.calling import by, done, refused

pytestmark = pytest.mark.django_db
SAVE = "save_post_ai_review"


def mark(post: Post, path: str = "post.excerpt") -> tuple[str, str, str]:
    found = make.layers(post).ai_review.marks[path]
    return found.user, found.agent_id, found.principal


def save(post: Post, principal: Principal, **arguments: Any) -> dict[str, Any]:
    return done(SAVE, principal, postId=str(post.pk), patch={"excerpt": "x"}, **arguments)


def test_a_named_agents_account_is_the_author_whatever_the_token_is_bound_to(
    environment: Callable[..., None],
) -> None:
    make.agent_actor("seo-specialist")
    for principal in (Principal(id="token"), by("editor"), by("ai_agent")):
        post = make.post(f"By {principal.id}")

        answer = save(post, principal, agentId="seo-specialist")

        assert mark(post) == ("agent:seo-specialist", "seo-specialist", principal.id)
        assert set(answer) == {"postId", "layer", "version", "staged"}


def test_without_a_name_the_author_is_the_tokens_account_then_the_configured_one_then_an_agents(
    environment: Callable[..., None],
) -> None:
    other = make.agent_actor("proofreader").user
    writers = []
    for number in range(4):
        post = make.post(f"Post {number}")
        if number == 1:
            environment(mcp_system_user_id=other.pk)
        elif number == 2:
            environment(mcp_system_user_id=None)
            User.objects.filter(agent_id="general-assistant").delete()
            oldest = User.objects.filter(role="ai_agent").order_by("pk").first()
        elif number == 3:
            make.user("editor")
        save(post, by("editor") if number == 3 else Principal(id="token"))
        writers.append(mark(post)[0])

    assert oldest is not None
    assert writers[1:] == ["agent:proofreader", oldest.username, "editor"]
    assert writers[0] == "agent:general-assistant"


def test_an_unknown_agent_is_the_systems_ai_user_and_the_answer_says_so(
    environment: Callable[..., None], agent: User
) -> None:
    post, editor = make.post(), by("editor")

    answer = save(post, editor, agentId="nobody")

    assert mark(post) == ("agent", "general-assistant", "client:editor")
    assert answer["author"] == "agent"
    assert answer["note"] == (
        "No account belongs to an agent 'nobody', so agent is the author. "
        "list_agents names the agents."
    )
    made = done("create_post_ai_review", editor, type="blog", title="New", agentId="nobody")
    submitted = done("submit_ai_review_to_review", editor, postId=made["postId"], agentId="nobody")
    assert (made["author"], submitted["author"]) == ("agent", "agent")
    assert Post.objects.get(pk=made["postId"]).author == agent


def test_an_unknown_agent_is_refused_where_the_system_user_is_off(
    environment: Callable[..., None],
) -> None:
    system = make.agent_actor("proofreader").user
    environment(mcp_system_user_id=system.pk)
    User.objects.filter(pk=system.pk).update(is_active=False)

    code, text = refused(
        SAVE, by("editor"), postId=str(make.post().pk), patch={"title": "x"}, agentId="nobody"
    )

    assert code == "no_account"
    assert "Leave agentId out" in text


@pytest.mark.parametrize("gone", [True, False])
def test_a_system_user_that_is_missing_or_off_refuses_every_call(
    environment: Callable[..., None], gone: bool
) -> None:
    system = make.agent_actor("proofreader").user
    environment(mcp_system_user_id=system.pk)
    if gone:
        User.objects.filter(pk=system.pk).delete()
    else:
        User.objects.filter(pk=system.pk).update(is_active=False)

    for tool, arguments in (
        ("list_posts", {}),
        ("create_post_ai_review", {"type": "blog", "title": "x"}),
    ):
        code, text = refused(tool, Principal(id="token"), **arguments)
        assert code == "no_account"
        assert "MCP_SYSTEM_USER_ID" in text


def test_an_agent_that_people_switched_off_writes_nothing(
    environment: Callable[..., None],
) -> None:
    post = make.post()
    make.agent_actor("seo-specialist")
    switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("admin"))

    code, text = refused(SAVE, postId=str(post.pk), patch={"title": "x"}, agentId="seo-specialist")
    switch_agent(agent_id="seo-specialist", enabled=True, actor=make.actor("admin"))
    save(post, by("ai_agent"), agentId="seo-specialist")

    assert code == "agent_switched_off"
    assert text.startswith("The agent 'seo-specialist' or its account is turned off")
    assert mark(post)[1] == "seo-specialist"


def test_what_comes_live_names_credential_agent_and_approver_at_each_path(
    environment: Callable[..., None],
) -> None:
    make.agent_actor("seo-specialist")
    post = make.post()
    principal = Principal(id="client:5f0c", user_id=make.user("ai_agent").pk)
    patch = {"excerpt": "Short.", "metaTitle": "Brew"}
    done(SAVE, principal, postId=str(post.pk), patch=patch, agentId="seo-specialist")
    done("submit_ai_review_to_review", principal, postId=str(post.pk))

    view = make.layers(post).review
    approve(post_id=post.pk, actor=make.actor(), digest=digest_of(view.changes))

    rows = Provenance.objects.filter(post=post, path__in=["post.excerpt", "post.metaTitle"])
    assert {
        (row.path, row.principal, row.agent_id, row.via, row.approved_by_name) for row in rows
    } == {
        ("post.excerpt", "client:5f0c", "seo-specialist", "mcp", "editor"),
        ("post.metaTitle", "client:5f0c", "seo-specialist", "mcp", "editor"),
    }
