"""Agents and AI clients with a content scope, their starter's or their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from agents_app.agent_status import agents
from agents_app.definitions.agents import get_agent, limit_agent, scope_of_agent
from agents_app.models import AgentRun, RunPost
from agents_app.runs.creation import create_run
from agents_app.runs.execution import prepare_attempt
from agents_app.runs.lifecycle import cancel_run
from agents_app.runs.payloads import translation_source
from agents_app.runs.permissions import narrow_rights, run_actor
from agents_app.runs.scopes import visible_runs
from content.layers import stage
from content.models import Layer, Post
from content.posts.move import Place, move_posts
from content.translations.translate import create_translation
from mcp_bridge.access.principals import Principal, actor_for
from mcp_bridge.access.tokens import create_token, find_holder
from mcp_bridge.protocol.tool_calls import call_tool
from media.models import Asset
from proofroom.accounts.services.agents import ensure_agent_user
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
AGENT = "seo-specialist"
PAGES = ContentScope(types=frozenset({"page"}))
RIGHTS = ("posts.view", "posts.edit", "agents.view", "agents.dropdown")


@pytest.fixture
def inside() -> Post:
    return make.post("Inside", type="page", slug="inside")


@pytest.fixture
def outside() -> Post:
    return make.post("Outside", slug="outside")


def begin(post: Post, actor: Any) -> AgentRun:
    return create_run(agent_id=AGENT, scope="dropdown", actor=actor, post_id=post.pk)


def acting(run: AgentRun) -> Any:
    agent = get_agent(AGENT)
    assert agent is not None
    return run_actor(run, agent, ensure_agent_user(agent_id=AGENT))


def test_a_run_has_its_starters_scope(inside: Post, outside: Post) -> None:
    make.site_role("desk", *RIGHTS, scope=PAGES)
    desk = make.actor("desk", via="admin")

    with pytest.raises(NotFound):
        begin(outside, desk)
    run = begin(inside, desk)

    assert run.content_scopes == [PAGES.to_json()]
    assert acting(run).scopes == (PAGES,)
    unlimited = begin(inside, make.actor("editor", via="admin"))
    assert unlimited.content_scopes == []


def test_a_run_that_a_run_starts_is_limited_the_same(inside: Post, outside: Post) -> None:
    make.site_role("desk", *RIGHTS, scope=PAGES)
    run = begin(inside, make.actor("desk", via="admin"))

    following = begin(inside, acting(run))

    assert following.content_scopes == [PAGES.to_json()]
    with pytest.raises(NotFound):
        begin(outside, acting(run))


def test_who_is_limited_sees_the_runs_about_what_they_see(inside: Post, outside: Post) -> None:
    editor = make.actor("editor", via="admin")
    seen, hidden = begin(inside, editor), begin(outside, editor)
    make.site_role("desk", *RIGHTS, scope=PAGES)
    client = ApiClient("desk")

    assert [row["id"] for row in client.read("/api/agent-runs")["data"]] == [str(seen.pk)]
    client.read(f"/api/agent-runs/{seen.pk}")
    client.read(f"/api/agent-runs/{hidden.pk}", expect=404)


def test_an_agent_is_limited_whatever_starts_it(inside: Post, outside: Post) -> None:
    admin = make.actor("admin", via="admin")
    limit_agent(agent_id=AGENT, scope=PAGES, actor=admin)

    with pytest.raises(NotAllowed) as refused:
        begin(outside, admin)
    assert refused.value.code == "outside_of_scope"
    actor = acting(begin(inside, admin))
    with pytest.raises(NotFound):
        stage(
            post_id=outside.pk,
            layer=Layer.AI_REVIEW,
            actor=actor,
            edit=lambda document: document.with_fields({"excerpt": "x"}),
        )
    limit_agent(agent_id=AGENT, scope=ContentScope(), actor=admin)
    assert not scope_of_agent(AGENT).is_limited
    begin(outside, admin)


def test_a_run_that_waits_is_limited_as_its_agent_is_now(inside: Post, outside: Post) -> None:
    admin = make.actor("admin", via="admin")
    held, left = begin(inside, admin), begin(outside, admin)

    limit_agent(agent_id=AGENT, scope=PAGES, actor=admin)

    assert acting(held).scopes == (PAGES,)
    prepare_attempt(held)
    with pytest.raises(NotFound):
        prepare_attempt(left)


def test_a_run_does_not_begin_once_its_post_has_left_what_it_is_limited_to(inside: Post) -> None:
    below = make.post("Below", type="page", slug="below", parentId=str(inside.pk))
    section = ContentScope(sections=frozenset({inside.pk}))
    make.site_role("desk", *RIGHTS, scope=section)
    run = begin(below, make.actor("desk", via="admin"))

    move_posts(post_ids=[below.pk], place=Place(parent_id=None), actor=make.actor("admin"))

    with pytest.raises(NotFound):
        prepare_attempt(run)


def test_the_page_and_the_chain_of_a_run_name_no_run_about_what_is_hidden(
    inside: Post, outside: Post
) -> None:
    editor = make.actor("editor", via="admin")
    seen, hidden, other = begin(inside, editor), begin(outside, editor), begin(inside, editor)
    AgentRun.objects.filter(pk=seen.pk).update(cause_run=hidden, status="succeeded")
    AgentRun.objects.filter(pk=other.pk).update(cause_run=seen, status="succeeded")
    RunPost.objects.create(run=other, post=outside)
    make.site_role("desk", *RIGHTS, scope=PAGES)
    desk = ApiClient("desk")

    assert desk.read(f"/api/agent-runs/{seen.pk}/chain")["causes"] == []
    assert desk.read(f"/api/agent-runs/{seen.pk}/chain")["caused"] == []
    shown = desk.get(f"/admin/agents_app/agentrun/{seen.pk}/change/").content.decode()
    assert str(other.pk) not in shown
    assert str(hidden.pk) not in shown
    comparison = f"/admin/agents_app/agentrun/{seen.pk}/compare/?with={other.pk}"
    assert desk.get(comparison).status_code == 404
    everything = ApiClient("editor").read(f"/api/agent-runs/{seen.pk}/chain")
    assert [link["id"] for link in everything["causes"]] == [str(hidden.pk)]
    assert [link["id"] for link in everything["caused"]] == [str(other.pk)]
    assert ApiClient("editor").get(comparison).status_code == 200


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_chain_names_no_event_about_what_is_hidden_also_where_it_is_gone(
    inside: Post, outside: Post, is_gone: bool
) -> None:
    run = begin(inside, make.actor("editor", via="admin"))
    events = {
        post.title: Event.objects.create(name="post.published", post_id=post.pk, payload={})
        for post in (inside, outside)
    }
    if is_gone:
        Event.objects.filter(pk=events["Outside"].pk).update(post_id=uuid4())
    make.site_role("desk", *RIGHTS, scope=PAGES)

    def told(who: str) -> list[str]:
        chain = ApiClient(who).read(f"/api/agent-runs/{run.pk}/chain")
        return [link["kind"] for link in chain["causes"]]

    AgentRun.objects.filter(pk=run.pk).update(event=events["Inside"])
    assert told("desk") == ["event"]
    AgentRun.objects.filter(pk=run.pk).update(event=events["Outside"])
    assert told("desk") == []
    assert told("editor") == ["event"]


def test_agent_managers_limit_an_agent_to_existing_content() -> None:
    with pytest.raises(NotAllowed):
        limit_agent(agent_id=AGENT, scope=PAGES, actor=make.actor("editor"))
    with pytest.raises(RuleViolation):
        limit_agent(
            agent_id=AGENT,
            scope=ContentScope(types=frozenset({"castle"})),
            actor=make.actor("admin"),
        )


def test_the_page_of_an_agent_limits_it(inside: Post) -> None:
    admin = ApiClient("admin")
    path = f"/admin/agents_app/agentswitch/{AGENT}/limit/"

    assert b"Limit to sections" in admin.get(path).content
    answer = admin.send_form("POST", path, {"sections": [str(inside.pk)], "reads_all": "on"})

    assert answer.status_code == 302
    assert scope_of_agent(AGENT) == ContentScope(sections=frozenset({inside.pk}), reads_all=True)
    shown = admin.get(f"/admin/agents_app/agentswitch/{AGENT}/change/").content.decode()
    assert "Sections: Inside (/inside)" in shown


def test_a_token_of_an_ai_client_is_limited_within_its_account(inside: Post, outside: Post) -> None:
    token, secret = create_token(
        name="Pages", user_id=make.user("editor").pk, actor=make.actor("admin"), scope=PAGES
    )
    holder = find_holder(secret)
    assert holder is not None

    listed = call_tool(holder.principal, "list_posts", {})
    assert [item["title"] for item in listed.structured_content["items"]] == ["Inside"]
    for post, is_refused in ((inside, False), (outside, True)):
        saved = call_tool(
            holder.principal,
            "save_post_ai_review",
            {"postId": str(post.pk), "patch": {"excerpt": "Proposed"}},
        )
        assert saved.is_error is is_refused
    assert token.scope == PAGES


def test_the_api_makes_and_answers_tokens_with_their_scope(inside: Post) -> None:
    body = {
        "name": "Pages",
        "userId": make.user("editor").pk,
        "scope": {"sections": [str(inside.pk)]},
    }
    admin = ApiClient("admin")

    made = admin.write("POST", "/api/mcp-tokens", body, expect=201)

    assert made["scope"]["sections"] == [str(inside.pk)]
    assert admin.read(f"/api/mcp-tokens/{made['id']}")["scope"] == made["scope"]
    wrong = {**body, "scope": {"types": ["castle"]}}
    assert "types" in admin.write("POST", "/api/mcp-tokens", wrong, expect=422)["details"]


@pytest.mark.parametrize("reads_all", [False, True])
def test_a_run_reads_the_source_of_a_translation_only_inside(reads_all: bool) -> None:
    source = make.post("Source", slug="source")
    german = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    scope = ContentScope(locales=frozenset({"de"}), reads_all=reads_all)
    make.site_role("desk", *RIGHTS, scope=scope)
    translator = get_agent("translator")
    assert translator is not None
    run = create_run(
        agent_id=translator.id,
        scope="dropdown",
        actor=make.actor("desk", via="admin"),
        post_id=german.pk,
    )
    actor = run_actor(run, translator, ensure_agent_user(agent_id=translator.id))

    assert (translation_source(german, translator, actor) is not None) is reads_all


@pytest.mark.parametrize("reads_all", [False, True])
def test_no_picture_is_made_for_a_post_outside(outside: Post, reads_all: bool) -> None:
    scope = ContentScope(types=frozenset({"page"}), reads_all=reads_all)
    make.site_role("desk", *RIGHTS, "media.upload", scope=scope)
    holder = Principal(id="desk", user_id=make.user("desk").pk)
    picture = {"prompt": "A cup", "altText": "A cup", "postId": str(outside.pk)}

    for path in ("post.featuredMediaId", "modules.nowhere.props.imageId"):
        refused = call_tool(holder, "generate_image", {**picture, "path": path})
        assert refused.is_error
        code = refused.meta["cms/error"]["code"] if refused.meta else ""
        assert code == ("outside_of_scope" if reads_all else "not_found")
    assert not Asset.objects.exists()


def test_who_only_reads_a_post_cancels_no_run_on_it(inside: Post, outside: Post) -> None:
    editor = make.actor("editor", via="admin")
    kept, ended = begin(outside, editor), begin(inside, editor)
    make.site_role("desk", *RIGHTS, scope=replace(PAGES, reads_all=True))
    desk = make.actor("desk", via="admin")

    with pytest.raises(NotAllowed) as refused:
        cancel_run(run_id=kept.pk, actor=desk)
    assert refused.value.code == "outside_of_scope"
    assert AgentRun.objects.get(pk=kept.pk).status == "queued"
    assert cancel_run(run_id=ended.pk, actor=desk).status == "cancelled"


def test_the_list_of_agents_shows_the_latest_run_that_one_sees(inside: Post, outside: Post) -> None:
    make.site_role("desk", *RIGHTS, scope=PAGES)
    seen = begin(inside, make.actor("editor"))
    hidden = begin(outside, make.actor("editor"))

    def latest(role: str) -> Any:
        return next(one.last for one in agents(make.actor(role)) if one.definition.id == AGENT)

    assert (latest("desk"), latest("editor")) == (seen, hidden)


def test_a_limited_token_sees_no_run_of_its_owner_that_was_not_limited_as_it_is() -> None:
    owner = make.actor("editor")
    token = replace(owner, limited_to=(PAGES,))
    whole, own = (
        AgentRun.objects.create(
            agent_id=AGENT,
            scope="global",
            by_id=owner.user.pk,
            content_scopes=[scope.to_json() for scope in actor.scopes],
        )
        for actor in (owner, token)
    )

    assert set(visible_runs(AgentRun.objects.all(), token, owner.user.pk)) == {own}
    assert set(visible_runs(AgentRun.objects.all(), owner, owner.user.pk)) == {whole, own}


def test_an_account_that_is_limited_has_no_diagnostics() -> None:
    make.site_role("desk", *RIGHTS, scope=PAGES)
    account = make.user("desk")

    with pytest.raises(RuleViolation, match="limited token or account"):
        create_token(name="x", user_id=account.pk, actor=make.actor("admin"), diagnostics=True)
    principal = Principal(id="client", user_id=account.pk, diagnostics=True)
    assert not actor_for(principal).diagnoses


def test_a_run_that_an_event_of_a_limited_run_starts_is_limited_as_it_is(inside: Post) -> None:
    make.site_role("desk", *RIGHTS, scope=PAGES)
    first = begin(inside, make.actor("desk"))
    event = Event.objects.order_by("pk").last()

    after = [
        AgentRun(agent_id=AGENT, scope="dropdown", event=event, cause_run=cause, context={})
        for cause in (first, None)
    ]
    for run in after:
        narrow_rights(run, make.actor("editor"))

    assert [run.content_scopes for run in after] == [[PAGES.to_json()], []]
