"""The public trigger: only the secret opens it."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.models import AgentRun
from agents_app.runs.triggers import MAX_TRIGGERS_PER_HOUR
from content.models import Draft
from proofroom.core.diagnostics import doctor
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
def test_threat_47_the_trigger_opens_with_the_secret_only(
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
        # Without the secret, existing and unknown agents answer alike.
        unknown = send(Client(), TRIGGER.replace("seo-specialist", "nobody"), **headers)
        assert unknown.status_code == 401


def test_threat_40_a_session_does_not_stand_in_for_the_secret(signed_in: Any) -> None:
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


def test_threat_47_every_candidate_is_compared_in_constant_time(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def noting(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr("agents_app.api.agents.hmac.compare_digest", noting)
    headers = {"HTTP_X_AGENT_KEY": SECRET, "HTTP_AUTHORIZATION": "Bearer wrong"}
    answer = send(Client(), TRIGGER, {"postId": str(make.post().pk)}, **headers)

    assert answer.status_code == 201
    assert compared == [(SECRET.encode(), SECRET.encode()), (b"wrong", SECRET.encode())]


@pytest.mark.parametrize(
    ("env", "found"),
    [({}, True), ({"agent_trigger_secret": SECRET}, False), ({"mcp_auth_token": SECRET}, False)],
    ids=["unset", "own", "of-mcp"],
)
def test_threat_47_the_doctor_says_that_the_trigger_is_closed(
    settings: Any, env: dict[str, str], found: bool
) -> None:
    set_env(settings, agent_trigger_secret=None, mcp_auth_token=None)
    set_env(settings, **env)

    said = [finding.found for finding in doctor.default_secrets()]

    assert any(text.startswith("closed; set AGENT_TRIGGER_SECRET") for text in said) == found


def test_the_trigger_has_a_rate_and_a_list_of_addresses_that_it_does_not_hold_for(
    settings: Any,
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "trigger": "2/hour"}

    def call(secret: str = SECRET) -> Any:
        return send(Client(), TRIGGER, {}, HTTP_X_AGENT_KEY=secret)

    assert [call("wrong").status_code, call().status_code] == [401, 422]
    over = call()
    assert (over.status_code, over.json()["code"]) == (429, "too_many_requests")
    assert int(over["Retry-After"]) > 0
    assert over["X-RateLimit-Limit"] == "2"
    assert call("wrong").status_code == 429, "guesses count"

    set_env(settings, throttle_allow_ips=("127.0.0.0/8",))
    assert [call().status_code for _ in range(4)] == [422] * 4


def test_threat_50_one_agent_is_begun_so_often_on_one_post_and_no_more(settings: Any) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    post, other = make.post(), make.post("Another", slug="another")

    def call(on: Any, agent: str = "seo-specialist") -> Any:
        path = f"/api/public/agents/{agent}/run"
        return send(Client(), path, {"postId": str(on.pk)}, HTTP_X_AGENT_KEY=SECRET)

    assert call(post).status_code == 201
    make.copies(AgentRun.objects.get(), MAX_TRIGGERS_PER_HOUR - 2, id=lambda _: uuid4())
    assert call(post).status_code == 201
    over = call(post)

    assert (over.status_code, over.json()["code"]) == (429, "too_many_requests")
    assert 3500 < int(over["Retry-After"]) <= 3600
    assert AgentRun.objects.count() == MAX_TRIGGERS_PER_HOUR
    assert [call(other).status_code, call(post, "proofreader").status_code] == [201, 201]
    AgentRun.objects.update(created_at=timezone.now() - timedelta(hours=1, seconds=1))
    assert call(post).status_code == 201


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"context": {"a": "x" * 60_000}}, 422),
        ({"context": {"a": "b\x00"}}, 422),
        ({"context": {"a": 10**400}}, 400),
        ({"context": []}, 422),
        ({"openEndedContext": "x" * 1_000_000}, 422),
        ({"postId": 7}, 422),
        ({"postId": "x" * 100_000}, 404),
        ({"scope": "x" * 100_000}, 422),
        ({"context": {"a": "x" * 20_000_000}}, 413),
    ],
    ids=["long", "nul", "number", "list", "words", "post", "post-id", "scope", "huge"],
)
def test_the_trigger_says_what_is_wrong_with_a_hostile_body(
    settings: Any, body: dict[str, Any], status: int
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    body = {"postId": str(make.post().pk), **body}

    answer = send(Client(), TRIGGER, body, HTTP_X_AGENT_KEY=SECRET)

    assert answer.status_code == status
    assert len(answer.content) < 2_000
    assert AgentRun.objects.count() == 0


@pytest.mark.parametrize(
    ("named", "status", "hop"),
    [("no-run", 422, None), ("6b0b5a0c-8f63-4a53-9d0e-3a7d1c2b1000", 201, 0), ("", 201, 0)],
)
def test_a_cause_that_is_not_there_counts_as_none(
    settings: Any, named: str, status: int, hop: int | None
) -> None:
    set_env(settings, agent_trigger_secret=SECRET)
    headers = {"HTTP_X_AGENT_KEY": SECRET, "HTTP_X_AGENT_RUN": named}

    answer = send(Client(), TRIGGER, {"postId": str(make.post().pk)}, **headers)

    assert answer.status_code == status
    assert list(AgentRun.objects.values_list("hop", flat=True)) == ([hop] if status == 201 else [])
