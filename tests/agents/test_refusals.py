"""Runs that cannot start, and callers who may not start them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agents_app.definitions import agents as definitions
from agents_app.definitions.agents import switch_agent
from agents_app.models import AgentRun, AgentSwitch
from agents_app.runs.creation import create_run
from agents_app.runs.field_target import find_field
from content.models import Post
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from tests import make
from tests.agents.asking import execute
from tests.agents.environment import write_agent
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def _refused(kind: type[CmsError], code: str, field: str | None = None, **given: Any) -> None:
    given = {
        "agent_id": "seo-specialist",
        "scope": "dropdown",
        "actor": make.actor("editor"),
        **given,
    }
    if "post_id" not in given:
        given["post_id"] = make.post(slug=f"post-{uuid4().hex[:8]}").pk
    with pytest.raises(kind) as caught:
        create_run(**given)
    assert caught.value.code == code
    if field is not None:
        assert list(caught.value.details) == [field]
    assert AgentRun.objects.count() == 0


def test_what_cannot_begin_is_refused(agents_dir: Path) -> None:
    write_agent(agents_dir, "quiet", "dropdown")
    definitions.reload()
    deleted = make.post(slug="deleted")
    Post.objects.filter(pk=deleted.pk).update(deleted_at="2026-01-01T00:00Z")

    _refused(NotFound, "unknown_agent", agent_id="nobody")
    _refused(NotAllowed, "agent_not_in_scope", scope="global", actor=make.actor("admin"))
    _refused(RuleViolation, "invalid", "scope", scope="post.publish")
    _refused(RuleViolation, "invalid", "scope", scope="nowhere")
    _refused(NotFound, "not_found", post_id=deleted.pk)
    _refused(NotFound, "not_found", post_id="no-uuid")
    _refused(RuleViolation, "invalid", "postId", post_id=None)
    _refused(
        RuleViolation, "invalid", "openEndedContext", agent_id="quiet", open_ended_context="Hello"
    )
    _refused(RuleViolation, "invalid", "openEndedContext", open_ended_context="x" * 2001)
    _refused(RuleViolation, "invalid", "fieldKey", scope="field")
    _refused(RuleViolation, "invalid", "fieldKey", field_key="post.title")
    _refused(RuleViolation, "invalid", "fieldKey", scope="field", field_key="post.parentId")
    _refused(RuleViolation, "invalid", "fieldKey", scope="field", field_key="module.hero.nothing")
    _refused(RuleViolation, "invalid", "fieldKey", scope="field", field_key="module.pricing.title")
    _refused(NotAllowed, "agent_not_in_scope", scope="field", field_key="post.slug")
    _refused(RuleViolation, "hop_limit", actor=Actor(make.user("editor"), via="api", hop=4))


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [("dropdown", {"admin", "editor"}), ("field", {"admin", "editor"}), ("global", {"admin"})],
)
def test_people_need_the_permission_of_the_scope(scope: str, allowed: set[str]) -> None:
    post = make.post()
    field: dict[str, Any] = {"field_key": "post.title"} if scope == "field" else {}
    for role in ("admin", "editor", "translator"):
        given: dict[str, Any] = {
            "agent_id": "general-assistant",
            "scope": scope,
            "post_id": post.pk,
        }
        if role in allowed:
            create_run(actor=make.actor(role), **given, **field)
            continue
        with pytest.raises(NotAllowed):
            create_run(actor=make.actor(role), **given, **field)
    assert AgentRun.objects.count() == len(allowed)


def test_an_ai_client_of_a_translator_starts_no_agent() -> None:
    with pytest.raises(NotAllowed):
        create_run(
            agent_id="seo-specialist",
            scope="dropdown",
            actor=make.mcp_actor("translator"),
            post_id=make.post().pk,
        )
    assert AgentRun.objects.count() == 0


def test_a_credential_that_may_not_propose_cannot_have_an_agent_do_it() -> None:
    narrowed = Actor(
        make.user("editor"), via="mcp", permissions=frozenset({"posts.view", "agents.view"})
    )

    with pytest.raises(NotAllowed, match=r"posts\.edit"):
        create_run(
            agent_id="seo-specialist", scope="dropdown", actor=narrowed, post_id=make.post().pk
        )

    assert AgentRun.objects.count() == 0


def test_a_switched_off_agent_is_as_if_it_were_not_there() -> None:
    post = make.post()
    with pytest.raises(NotAllowed):
        switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("editor"))
    assert AgentSwitch.objects.count() == 0

    switch_agent(agent_id="seo-specialist", enabled=False, actor=make.actor("admin"))

    _refused(NotFound, "unknown_agent", post_id=post.pk)
    switch_agent(agent_id="seo-specialist", enabled=True, actor=make.actor("admin"))
    assert execute(post).status == "succeeded"


FIELD: dict[str, Any] = {"scope": "field", "field_key": "post.title"}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"context": {"a": ["\x00"]}}, "context.a.0"),
        ({"context": {"a": {"\x00": 1}}}, "context.a"),
        ({"context": {"a": float("nan")}}, "context.a"),
        ({"context": {"a": 10**400}}, "context.a"),
        ({"context": {"a": 1e308}}, "context.a"),
        ({"open_ended_context": "a\x00"}, "openEndedContext"),
        ({"open_ended_context": "\ud800"}, "openEndedContext"),
        ({**FIELD, "post_module_id": "z" * 500}, "postModuleId"),
        ({"post_module_id": "\x00"}, "postModuleId"),
        ({**FIELD, "field_key": "module.hero.title." + "9" * 400}, "fieldKey"),
        ({**FIELD, "field_key": "module.hero.title.\x00"}, "fieldKey"),
    ],
    ids=ascii,
)
def test_it_is_refused_by_its_name(given: dict[str, Any], path: str) -> None:
    post = make.post()

    with pytest.raises(RuleViolation) as caught:
        create_run(
            **{
                "agent_id": "general-assistant",
                "scope": "dropdown",
                "actor": make.actor("editor"),
                "post_id": post.pk,
                **given,
            }
        )

    assert list(caught.value.details) == [path]
    assert AgentRun.objects.count() == 0


def test_the_rest_door_answers_422_on_the_path() -> None:
    url = f"/api/posts/{make.post().pk}/agents/general-assistant/run"
    api = ApiClient("editor")

    answer = api.write("POST", url, {"context": {"a": "\x00"}}, expect=422)
    assert list(answer["details"]) == ["context.a"]
    body = {"scope": "field", "fieldKey": "post.title", "postModuleId": "no-uuid"}
    assert list(api.write("POST", url, body, expect=422)["details"]) == ["postModuleId"]


def test_a_module_is_found_by_its_id_in_any_spelling() -> None:
    post = make.post()
    module = make.module_id(post, "hero")

    run = create_run(
        agent_id="general-assistant",
        scope="field",
        actor=make.actor("editor"),
        post_id=post.pk,
        field_key="module.hero.title",
        post_module_id=module.upper().replace("-", ""),
    )

    assert run.post_module_id == module


@pytest.mark.parametrize("place", ["²", "9" * 5000, "٣", "99999"])
def test_a_place_in_a_list_is_a_short_number_in_ascii(place: str) -> None:
    document = make.layers(make.post()).live

    target = find_field(document, f"module.faq.items.{place}")

    assert target.value(document) is None
    with pytest.raises(RuleViolation, match="has no part"):
        target.edit("x")(document)
