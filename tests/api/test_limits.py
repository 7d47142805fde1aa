"""Rate limits: identification of callers, response headers, and exemptions."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.caching.rate_limits import (
    HitCount,
    client_address,
    is_allow_listed,
    rate_limit_key,
)
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
NOW = 1_900_000_010.0
HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.fixture(autouse=True)
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put all calls of a test into one window."""
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: NOW)


def rates(settings: Any, **given: str) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, **given}


def environment(settings: Any, **given: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=given)


def left(response: Any) -> tuple[int, str]:
    """Return the status, and the remaining calls."""
    return response.status_code, response.get("X-RateLimit-Remaining", "-")


def test_the_rates_equal_the_contracts(settings: Any) -> None:
    """And the rate of AI clients that register themselves."""
    assert settings.THROTTLE_RATES == {
        "user": "1000/hour",
        "anon": "100/hour",
        "forms": "10/hour",
        "public": "600/minute",
        "delivery": "6000/minute",
        "events": "6000/hour",
        "trigger": "60/minute",
        "login": "10/minute",
        "mcp": "600/minute",
        "oauth": "30/hour",
    }


def test_every_answer_tells_what_is_left(settings: Any) -> None:
    rates(settings, user="50/hour", anon="40/hour", public="30/minute", trigger="20/minute")
    post = make.post()
    editor, translator, nobody = ApiClient("editor"), ApiClient("translator"), ApiClient()
    found = [
        (editor.get("/api/posts"), 200, "50"),
        (editor.head("/api/posts"), 200, "50"),
        (editor.options("/api/posts"), 200, "50"),
        (editor.get(f"/api/posts/{make.user('editor').pk}"), 404, "50"),
        (editor.send("POST", "/api/posts", "{"), 400, "50"),
        (editor.send("POST", "/api/posts", {"type": 1}), 422, "50"),
        (editor.send("PATCH", "/api/posts"), 405, "50"),
        (editor.get("/api/posts", HTTP_ACCEPT="text/csv"), 406, "50"),
        (editor.generic("POST", "/api/posts", b"x", "text/csv", **editor._headers()), 415, "50"),
        (translator.send("DELETE", f"/api/posts/{post.pk}"), 403, "50"),
        (editor.generic("POST", "/api/posts", b"{}", "application/json"), 403, "40"),
        (nobody.get("/api/posts"), 401, "40"),
        (nobody.get("/api/schema/"), 200, "40"),
        (program("cms_wrong").get("/api/posts"), 401, "40"),
        (nobody.get("/api/public/posts"), 200, "30"),
        (nobody.get("/api/public/posts/x"), 404, "30"),
        (nobody.send("POST", "/api/public/agents/seo-specialist/run"), 401, "20"),
    ]

    for response, status, limit in found:
        assert response.status_code == status, response.content[:200]
        assert response["X-RateLimit-Limit"] == limit, (status, limit)
        assert all(response[name].isdigit() for name in HEADERS)


def test_the_call_beyond_the_limit_is_429_and_says_when_to_come_back(settings: Any) -> None:
    rates(settings, anon="2/minute")
    client = ApiClient()

    answers = [client.get("/api/posts") for _ in range(3)]

    assert [left(answer) for answer in answers] == [(401, "1"), (401, "0"), (429, "0")]
    error(answers[2], 429, "too_many_requests")
    # The window is a minute of the clock; this one is 50 seconds old.
    assert int(answers[2]["X-RateLimit-Reset"]) == NOW - NOW % 60 + 60
    assert int(answers[2]["Retry-After"]) == 60 - NOW % 60
    assert ApiClient().get("/api/posts", REMOTE_ADDR="10.0.0.1").status_code == 401


def test_threat_57_wrong_tokens_are_counted_and_stopped(settings: Any) -> None:
    rates(settings, anon="2/hour")
    _, secret = token_of(make.user("editor"))

    answers = [program(f"cms_{number}").get("/api/posts").status_code for number in range(3)]

    assert answers == [401, 401, 429]
    assert program(secret).get("/api/posts").status_code == 200


def test_refused_calls_count_as_much_as_answered_ones(settings: Any) -> None:
    rates(settings, user="1/hour")
    translator = ApiClient("translator")

    assert left(translator.get("/api/users")) == (403, "0")
    error(translator.get("/api/posts"), 429, "too_many_requests")


def test_sessions_and_tokens_of_one_person_count_together(settings: Any) -> None:
    rates(settings, user="3/hour")
    _, secret = token_of(make.user("editor"))
    session = ApiClient("editor")

    assert left(session.get("/api/posts", REMOTE_ADDR="10.0.0.1")) == (200, "2")
    assert left(program(secret).get("/api/posts", REMOTE_ADDR="10.0.0.2")) == (200, "1")
    assert left(program(secret).get("/api/posts")) == (200, "0")
    assert program(secret).get("/api/posts").status_code == 429
    assert left(ApiClient("admin").get("/api/posts"))[0] == 200


def test_each_rate_can_be_switched_off(settings: Any) -> None:
    rates(settings, user="off", anon="off", public="off", login="off")
    make.user("editor")
    wrong = {"email": "editor@example.com", "password": "wrong"}

    tries = {ApiClient().send("POST", "/api/auth/login", wrong).status_code for _ in range(12)}
    answers = [
        ApiClient("editor").get("/api/posts"),
        ApiClient().get("/api/posts"),
        ApiClient().get("/api/public/posts"),
    ]

    assert tries == {401}
    assert [answer.status_code for answer in answers] == [200, 401, 200]
    assert all(name not in answer for answer in answers for name in HEADERS)


@pytest.mark.parametrize(
    ("address", "is_free"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("2001:db8::1", True),
        ("11.0.0.1", False),
        ("2001:db9::1", False),
        ("", False),
        ("nonsense", False),
    ],
)
def test_addresses_on_the_list_are_not_counted(settings: Any, address: str, is_free: bool) -> None:
    environment(settings, throttle_allow_ips=("10.0.0.0/8", "2001:db8::/32"))
    rates(settings, anon="1/hour")

    found = [ApiClient().get("/api/posts", REMOTE_ADDR=address) for _ in range(2)]

    assert is_allow_listed(address) is is_free
    assert [answer.status_code for answer in found] == [401, 401 if is_free else 429]
    assert ("X-RateLimit-Limit" in found[0]) is not is_free


@pytest.mark.parametrize(
    ("depth", "sent", "address"),
    [
        (0, "8.8.8.8", "127.0.0.1"),
        (0, "8.8.8.8, 9.9.9.9", "127.0.0.1"),
        (1, "8.8.8.8", "8.8.8.8"),
        (1, "made-up, 1.1.1.1, 8.8.8.8", "8.8.8.8"),
        (2, "made-up, 8.8.8.8, 10.0.0.1", "8.8.8.8"),
        (3, "8.8.8.8, 10.0.0.1", "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "8.8.8.8, unknown", "127.0.0.1"),
        (1, "8.8.8.8, " + "x" * 5000, "127.0.0.1"),
        (1, "8.8.8.8:4711", "8.8.8.8"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "[2001:db8::1]", "2001:db8::1"),
        (1, "[2001:db8::1]:4711", "2001:db8::1"),
        (1, "2001:0DB8:0::1", "2001:db8::1"),
    ],
)
def test_threat_57_only_trusted_proxies_say_who_calls(
    settings: Any, rf: Any, depth: int, sent: str, address: str
) -> None:
    environment(settings, trusted_proxies=depth)

    assert client_address(rf.get("/", HTTP_X_FORWARDED_FOR=sent)) == address


def test_threat_57_made_up_hops_buy_no_calls(settings: Any) -> None:
    rates(settings, anon="2/hour")
    for depth, sent in ((0, "{}.1.1.1"), (1, "{}.1.1.1, 8.8.8.8"), (2, "{}.1.1.1, 8.8.4.4, ::1")):
        environment(settings, trusted_proxies=depth)

        found = [
            ApiClient().get("/api/posts", HTTP_X_FORWARDED_FOR=sent.format(number)).status_code
            for number in range(1, 4)
        ]

        assert found == [401, 401, 429], depth


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("u7", "u7"),
    ],
)
def test_threat_57_one_household_is_one_caller(address: str, counted: str) -> None:
    """An IPv6 address counts as its /64 network."""
    assert rate_limit_key(address) == counted


def test_the_limiter_looks_at_nothing_that_the_caller_sends(settings: Any) -> None:
    """Bodies, cookies, query and other headers do not affect the identification of callers."""
    rates(settings, anon="3/hour")
    found = [
        ApiClient().get("/api/posts?user=1"),
        ApiClient().get("/api/posts", HTTP_X_REAL_IP="9.9.9.9", HTTP_FORWARDED="for=9.9.9.9"),
        ApiClient().get("/api/posts", HTTP_COOKIE="sessionid=made-up"),
        ApiClient().send("POST", "/api/posts", {"email": "other@example.com"}),
    ]

    assert [answer.status_code for answer in found] == [401, 401, 401, 429]


def test_addresses_that_are_not_there_cost_nothing_and_are_not_counted(settings: Any) -> None:
    rates(settings, anon="1/hour")

    found = [ApiClient().get("/api/nothing").status_code for _ in range(3)]

    assert found == [404, 404, 404]
    assert ApiClient().get("/api/posts").status_code == 401


@pytest.mark.parametrize("scope", ["login", "forms", "trigger", "oauth"])
def test_a_sliding_limit_holds_across_the_edge_of_the_clocks_minute(
    settings: Any, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    rates(settings, **{scope: "10/minute"})
    now = NOW - NOW % 60 + 58.0

    def tries(number: int) -> list[bool]:
        monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: now)
        return [HitCount(scope, "10.0.0.7").is_over for _ in range(number)]

    assert tries(10) == [False] * 10
    now += 3.0
    assert tries(10) == [True] * 10
    now += 56.5
    assert tries(1) == [True]
    now += 0.5
    assert tries(11) == [False] * 10 + [True]


def test_a_try_that_was_refused_does_not_make_the_wait_longer(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates(settings, login="2/minute")
    now = float(NOW)

    def count() -> HitCount:
        monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: now)
        return HitCount("login", "10.0.0.7")

    assert [count().is_over, count().is_over] == [False, False]
    now += 30.0
    refused = [count() for _ in range(5)]

    assert [(one.is_over, one.wait) for one in refused] == [(True, 30)] * 5
    now += 30.0
    assert not count().is_over
