"""Login and logout, and the end of sessions."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from proofroom.accounts.models import User
from proofroom.accounts.roles import GRANTS, PERMISSIONS, Role
from proofroom.accounts.services.agents import ensure_agent_user
from tests import make
from tests.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_window")]


def login(client: ApiClient, email: str, password: str = make.PASSWORD, **extra: Any) -> Any:
    return client.send("POST", "/api/auth/login", {"email": email, "password": password}, **extra)


def test_log_in_look_and_log_out() -> None:
    make.user("editor")
    client = ApiClient()

    answer = login(client, "Editor@Example.com ")
    me = client.read("/api/auth/me")
    client.write("POST", "/api/auth/logout")

    assert answer.status_code == 200
    assert answer.json() == me
    assert me["email"] == "editor@example.com"
    assert (me["username"], me["role"]) == ("editor", "editor")
    assert me["permissions"] == sorted(GRANTS[Role.EDITOR])
    assert set(answer.cookies) == {"sessionid", "csrftoken", "cms_staff"}
    assert answer.cookies["sessionid"]["httponly"]
    client.read("/api/auth/me", expect=401)


def test_a_session_outlives_the_secret_key_that_it_was_begun_with(settings: Any) -> None:
    make.user("editor")
    client = ApiClient()
    login(client, "editor@example.com")
    old = settings.SECRET_KEY

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, ["other" * 10, old]
    assert client.read("/api/auth/me")["username"] == "editor"
    # From now on it is bound to the new key.
    settings.SECRET_KEY_FALLBACKS = []
    assert client.read("/api/auth/me")["username"] == "editor"


def test_a_session_ends_with_the_secret_key_where_that_is_no_fallback(settings: Any) -> None:
    make.user("editor")
    client = ApiClient()
    login(client, "editor@example.com")

    settings.SECRET_KEY = "n" * 50

    client.read("/api/auth/me", expect=401)


def test_a_login_starts_a_new_session() -> None:
    make.user("editor")
    client = ApiClient()
    client.cookies["sessionid"] = "chosen-by-somebody-else"

    login(client, "editor@example.com")

    assert client.cookies["sessionid"].value != "chosen-by-somebody-else"


def test_unknown_wrong_disabled_and_agents_accounts_get_one_answer() -> None:
    make.user("editor")
    disabled = make.user("translator")
    disabled.is_active = False
    disabled.save()
    agent = ensure_agent_user(agent_id="seo-specialist")
    agent.set_password(make.PASSWORD)
    agent.save()

    answers = [
        login(ApiClient(), email, password)
        for email, password in (
            ("nobody@example.com", make.PASSWORD),
            ("editor@example.com", "wrong"),
            ("editor@example.com", ""),
            ("", ""),
            ("translator@example.com", make.PASSWORD),
            (agent.email, make.PASSWORD),
        )
    ]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["code"] == "wrong_credentials"
    assert all("sessionid" not in answer.cookies for answer in answers)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"email": 1, "password": "x"},
        {"email": "a\x00", "password": "x"},
        {"email": "a", "password": "x", "role": "admin"},
    ],
)
def test_credentials_have_one_shape(body: Any) -> None:
    assert ApiClient().send("POST", "/api/auth/login", body).status_code == 422


def test_the_eleventh_try_is_refused_even_if_right() -> None:
    make.user("editor")
    for number in range(10):
        assert (
            login(
                ApiClient(), "editor@example.com", "wrong", REMOTE_ADDR=f"10.0.0.{number}"
            ).status_code
            == 401
        )

    answer = login(ApiClient(), "EDITOR@example.com", REMOTE_ADDR="10.0.1.1")

    assert answer.status_code == 429
    assert answer.json()["code"] == "too_many_requests"
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("10", "0")
    assert int(answer["X-RateLimit-Reset"]) > 0
    assert "sessionid" not in answer.cookies


def test_one_address_has_ten_tries_over_all_accounts() -> None:
    make.user("editor")
    for number in range(10):
        login(ApiClient(), f"nobody-{number}@example.com")

    assert login(ApiClient(), "editor@example.com").status_code == 429
    assert login(ApiClient(), "editor@example.com", REMOTE_ADDR="10.0.0.9").status_code == 200


def test_anonymous_callers_cannot_block_logins(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "anon": "3/hour"}
    make.user("editor")
    assert [ApiClient().get("/api/posts").status_code for _ in range(4)] == [401, 401, 401, 429]

    answer = login(ApiClient(), "editor@example.com")

    assert answer.status_code == 200
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("10", "9")
    # And the reverse: failed logins do not use up other callers' limits.
    assert ApiClient().get("/api/posts", REMOTE_ADDR="10.0.0.8").status_code == 401
    for _ in range(5):
        login(ApiClient(), "nobody@example.com", REMOTE_ADDR="10.0.0.8")
    assert ApiClient().get("/api/posts", REMOTE_ADDR="10.0.0.8").status_code == 401


def test_bodies_that_cannot_be_read_are_tries_too() -> None:
    make.user("editor")
    codes = [ApiClient().send("POST", "/api/auth/login", "{").status_code for _ in range(11)]

    assert codes == [400] * 10 + [429]
    assert login(ApiClient(), "editor@example.com").status_code == 429


def test_a_household_of_ipv6_counts_as_one() -> None:
    make.user("editor")
    for number in range(10):
        login(ApiClient(), f"nobody-{number}@example.com", REMOTE_ADDR=f"2001:db8:1:2::{number}")

    answer = login(ApiClient(), "editor@example.com", REMOTE_ADDR="2001:db8:1:2:ffff::1")

    assert answer.status_code == 429


def test_threat_57_a_made_up_forwarding_header_buys_no_tries() -> None:
    make.user("editor")
    for number in range(10):
        login(ApiClient(), f"nobody-{number}@example.com", HTTP_X_FORWARDED_FOR=f"8.8.8.{number}")

    assert (
        login(ApiClient(), "editor@example.com", HTTP_X_FORWARDED_FOR="9.9.9.9").status_code == 429
    )


def test_behind_a_trusted_proxy_its_word_counts_and_no_more(settings: Any) -> None:
    make.user("editor")
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"trusted_proxies": 1})
    for number in range(10):
        login(
            ApiClient(),
            f"nobody-{number}@example.com",
            HTTP_X_FORWARDED_FOR=f"1.1.1.{number}, 8.8.8.8",
        )

    assert (
        login(
            ApiClient(), "editor@example.com", HTTP_X_FORWARDED_FOR="2.2.2.2, 8.8.8.8"
        ).status_code
        == 429
    )
    assert (
        login(
            ApiClient(), "editor@example.com", HTTP_X_FORWARDED_FOR="8.8.8.8, 8.8.4.4"
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    "change",
    [
        {"is_active": False},
        {"role": "translator"},
        {"role": "ai_agent"},
        {"role": "admin"},
        "delete",
        "password",
    ],
    ids=str,
)
def test_threat_55_a_session_ends_at_once_with_what_it_stood_on(change: Any) -> None:
    user = make.user("editor")
    client = ApiClient("editor")
    client.read("/api/auth/me")

    if change == "delete":
        User.objects.filter(pk=user.pk).delete()
    elif change == "password":
        user.set_password("another-one-entirely")
        user.save()
    else:
        User.objects.filter(pk=user.pk).update(**change)

    client.read("/api/auth/me", expect=401)
    client.read("/api/posts", expect=401)


def test_rates_are_counted_per_user_and_shown(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "user": "3/hour"}
    cache.clear()
    editor, admin = ApiClient("editor"), ApiClient("admin")
    for _ in range(3):
        last = editor.get("/api/posts")

    over = editor.get("/api/posts")

    assert (last.status_code, last["X-RateLimit-Limit"], last["X-RateLimit-Remaining"]) == (
        200,
        "3",
        "0",
    )
    assert over.status_code == 429
    assert over.json()["code"] == "too_many_requests"
    assert over["Retry-After"]
    assert admin.get("/api/posts").status_code == 200


def test_the_grants_equal_the_contracts() -> None:
    """The table of the contract in full; `tokens`, `users` and similar permissions are the admin's only."""
    only_admin = {
        "agents.evaluate",
        "agents.global",
        "agents.edit",
        "analytics.view",
        "seo.manage",
        "webhooks.manage",
        "settings.manage",
        "disclosure.edit",
        "quality.view",
        "users.manage",
        "database.manage",
        "privacy.manage",
        "tokens.manage",
    }
    assert GRANTS[Role.ADMIN] - GRANTS[Role.EDITOR] == only_admin
    assert GRANTS[Role.ADMIN] | GRANTS[Role.AI_AGENT] == PERMISSIONS
    assert GRANTS[Role.TRANSLATOR] == {
        "posts.view",
        "posts.translate",
        "posts.review.save",
        "media.view",
        "feedback.view",
        "feedback.create",
        "feedback.resolve",
        "feedback.delete",
        "comments.view",
        "comments.write",
    }
    assert GRANTS[Role.AI_AGENT] == {
        "comments.view",
        "comments.write",
        "posts.view",
        "posts.create",
        "posts.ai-review.save",
        "posts.ai-review.approve",
        "posts.preview",
        "media.view",
        "media.upload",
        "agents.view",
    }


@pytest.mark.services
@pytest.mark.parametrize("path", ["/admin/", "/api/posts", "/"])
@pytest.mark.parametrize("key", ['"\\000aaaaaaaa"', "a b", "é", "a.b/../c"])
def test_a_key_that_no_session_has_is_no_session(path: str, key: str) -> None:
    make.post("Home", slug="home")

    answer = Client(raise_request_exception=False).get(
        path, headers={"Cookie": f"sessionid={key}; cms_staff=1"}
    )

    assert answer.status_code < 500
