"""The public trigger: the secret, and nothing else, opens it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from agents_app.models import AgentRun
from content.models import Draft
from tests import make
from tests.agents.asking import SECRET, TRIGGER, send
from tests.agents.environment import set_env
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("configured", "headers", "allowed"),
    [
        ({}, {}, False),
        ({}, {"HTTP_X_AGENT_KEY": ""}, False),
        ({}, {"HTTP_X_AGENT_KEY": "None"}, False),
        ({}, {"HTTP_AUTHORIZATION": "Bearer "}, False),
        ({"agent_trigger_secret": SECRET}, {}, False),
        ({"agent_trigger_secret": SECRET}, {"HTTP_X_AGENT_KEY": SECRET[:-1]}, False),
        ({"agent_trigger_secret": SECRET}, {"HTTP_X_AGENT_KEY": "sécret"}, False),
        ({"agent_trigger_secret": SECRET}, {"HTTP_AUTHORIZATION": f"Basic {SECRET}"}, False),
        ({"agent_trigger_secret": SECRET}, {"HTTP_AUTHORIZATION": SECRET}, False),
        (
            {"agent_trigger_secret": SECRET, "mcp_auth_token": "other"},
            {"HTTP_X_AGENT_KEY": "other"},
            False,
        ),
        ({"agent_trigger_secret": SECRET}, {"HTTP_X_AGENT_KEY": SECRET}, True),
        ({"agent_trigger_secret": SECRET}, {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"}, True),
        ({"agent_trigger_secret": SECRET}, {"HTTP_AUTHORIZATION": f"bearer {SECRET}"}, True),
        ({"mcp_auth_token": SECRET}, {"HTTP_X_AGENT_KEY": SECRET}, True),
    ],
)
def test_the_trigger_opens_with_the_secret_only(
    settings: Any, configured: dict[str, str], headers: dict[str, str], allowed: bool
) -> None:
    set_env(settings, agent_trigger_secret=None, mcp_auth_token=None)
    set_env(settings, **configured)
    post = make.post()

    answer = send(Client(), TRIGGER, {"postId": str(post.pk)}, **headers)

    assert answer.status_code == (201 if allowed else 401)
    assert AgentRun.objects.count() == int(allowed)
    if not allowed:
        assert answer.json()["code"] == "not_authenticated"
        # Without the secret nobody learns which agents there are.
        unknown = send(Client(), TRIGGER.replace("seo-specialist", "nobody"), **headers)
        assert unknown.status_code == 401


def test_a_session_does_not_stand_in_for_the_secret(signed_in: Any) -> None:
    assert send(signed_in("admin"), TRIGGER, {"postId": str(make.post().pk)}).status_code == 401


def test_the_trigger_does_the_same_as_the_dropdown(
    settings: Any, run_on_commit: RunOnCommit
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    post = make.post()
    before = make.live_hash()

    with run_on_commit():
        answer = send(
            Client(),
            TRIGGER,
            {
                "postId": str(post.pk),
                "context": {"from": "outside"},
                "openEndedContext": "Be brief",
            },
            HTTP_X_AGENT_KEY=SECRET,
        )

    run = AgentRun.objects.get(pk=answer.json()["id"])
    assert (run.status, run.via, len(run.staged)) == ("succeeded", "system", 5)
    assert run.context == {"from": "outside"}
    assert make.live_hash() == before
    assert Draft.objects.get().layer == "ai-review"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        (TRIGGER, {"postId": "no-uuid"}, 404, "not_found"),
        (TRIGGER, {"postId": str(uuid4())}, 404, "not_found"),
        (TRIGGER, {}, 422, "invalid"),
        (TRIGGER, {"user": 1}, 422, "invalid"),
        (TRIGGER, {"scope": "global"}, 403, "agent_not_in_scope"),
        (TRIGGER, {"scope": "field"}, 422, "invalid"),
        (TRIGGER, {"scope": "odd"}, 422, "invalid"),
        ("/api/public/agents/nobody/run", {}, 404, "unknown_agent"),
        ("/api/public/agents/proofreader/run", {"openEndedContext": "x"}, 422, "invalid"),
    ],
)
def test_the_trigger_refuses_what_the_dropdown_refuses(
    settings: Any, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    if path.endswith("proofreader/run"):
        body = {**body, "postId": str(make.post().pk)}

    answer = send(Client(), path, body, HTTP_X_AGENT_KEY=SECRET)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert AgentRun.objects.count() == 0


def test_bad_json_is_400_and_starts_nothing(settings: Any) -> None:
    set_env(settings, agent_trigger_secret=SECRET)

    bad = Client().post(TRIGGER, "{", content_type="application/json", HTTP_X_AGENT_KEY=SECRET)

    assert (bad.status_code, bad.json()["code"]) == (400, "bad_request")
    assert AgentRun.objects.count() == 0
