"""Errors of `/api/users` and `/api/roles`, with nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError

from proofroom.accounts.models import User
from proofroom.accounts.services import users as service
from proofroom.core.errors import RuleViolation
from tests import make
from tests.api.refusals import error, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-enough-one"
NEW = {"email": " New@Example.com", "username": "new", "role": "translator", "password": PASSWORD}


@pytest.fixture(autouse=True)
def nobody_yet() -> None:
    """Exclude the agents' initial accounts from lists."""
    User.objects.all().delete()


def rows() -> list[Any]:
    return list(User.objects.order_by("pk").values())


def refused(method: str, path: str, body: Any, *keys: str, code: str = "invalid") -> dict[str, Any]:
    """Send it as the admin: 422 with only these keys, and nothing changed."""
    admin = ApiClient("admin")
    before = rows(), stored()

    answer = error(admin.send(method, path, body), 422, code)

    assert set(answer["details"]) == set(keys), answer
    assert (rows(), stored()) == before
    return answer


def test_a_refused_change_leaves_all_as_it_was() -> None:
    """Name and password in one call: both change or neither."""
    user = make.user("editor")
    path = f"/api/users/{user.pk}"

    refused("PATCH", path, {"username": "other", "password": "short"}, "password")
    refused("PATCH", path, {"username": "a b", "password": PASSWORD}, "username")


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"email": "no address"}, "email"),
        ({"email": "x" * 250 + "@example.com"}, "email"),
        ({"email": "a\x00@example.com"}, "email"),
        ({"email": None}, "email"),
        ({"username": ""}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": ["x"]}, "username"),
        ({"role": "ai_agent"}, "role"),
        ({"role": "owner"}, "role"),
        ({"role": 1}, "role"),
        ({"password": "short"}, "password"),
        ({"password": "password1"}, "password"),
        ({"password": "x" * 1001}, "password"),
        ({"password": 12345678}, "password"),
        ({"is_superuser": True}, "is_superuser"),
        ({"sessionEpoch": 1}, "sessionEpoch"),
    ],
)
def test_what_no_account_may_have(given: dict[str, Any], key: str) -> None:
    refused("POST", "/api/users", {**NEW, **given}, key)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"role": "ai_agent"}, "role"),
        ({"role": "owner"}, "role"),
        ({"active": "false"}, "active"),
        ({"active": 0}, "active"),
        ({"email": "admin@example.com"}, "email"),
        ({"username": "admin"}, "username"),
        ({"username": "\x00"}, "username"),
        ({"is_active": False}, "is_active"),
        ({"agent_id": "x"}, "agent_id"),
    ],
)
def test_what_no_account_becomes(given: dict[str, Any], key: str) -> None:
    make.user("admin")

    refused("PATCH", f"/api/users/{make.user('editor').pk}", given, key)


def test_a_lone_surrogate_is_refused() -> None:
    admin = ApiClient("admin")

    answer = admin.send("POST", "/api/users", '{"username": "\\ud800"}')

    assert answer.status_code in (400, 422)
    assert not User.objects.exclude(username="admin").exists()


def test_the_last_admin_and_ones_own_account_stay_on() -> None:
    admin = make.user("admin")
    own = f"/api/users/{admin.pk}"

    refused("PATCH", own, {"role": "editor"}, "role", code="last_admin")
    refused("DELETE", own, None, "active", code="own_account")
    refused("PATCH", own, {"active": False}, "active", code="own_account")


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("active=yes", "active"),
        ("role=", "role"),
        ("search=%00", "search"),
        ("search=" + "x" * 201, "search"),
        ("per_page=101", "per_page"),
    ],
)
def test_a_question_with_a_bad_value_is_422(query: str, key: str) -> None:
    answer = error(ApiClient("admin").get(f"/api/users?{query}"), 422, "invalid")

    assert list(answer["details"]) == [key]


@pytest.mark.parametrize("bad", ["0", "-1", "1.0", "²", "9" * 18, "9" * 40, "%00", "true", "1%20"])
def test_an_account_that_is_not_there_is_404(bad: str) -> None:
    admin, before = ApiClient("admin"), rows()

    for method in ("GET", "PATCH", "DELETE"):
        error(admin.send(method, f"/api/users/{bad}"), 404, "unknown_user")
    assert rows() == before


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("email", {"email": "editor@example.com", "username": "new"}),
        ("username", {"email": "new@example.com", "username": "editor"}),
    ],
)
def test_two_at_once_with_one_name_is_422(
    field: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race: the check finds the name free, the constraint does not."""
    make.user("editor")
    other = make.user("translator")
    monkeypatch.setattr(service, "_check", lambda user: None)

    made = refused("POST", "/api/users", {**NEW, **given}, field, code=f"{field}_taken")
    changed = refused(
        "PATCH",
        f"/api/users/{other.pk}",
        {field: given[field]},
        field,
        code=f"{field}_taken",
    )

    assert made["error"] == changed["error"] == f"Another account already uses this {field}."


def test_an_integrity_error_of_another_kind_stays_a_refusal() -> None:
    """Emails that differ by case: the index on the lower case refuses a value that fits the column."""
    make.user("editor")
    user = User(email="EDITOR@example.com", username="x", role="editor")

    with pytest.raises(RuleViolation) as caught:
        service._save(user)

    assert isinstance(caught.value.__context__, IntegrityError)
    assert list(caught.value.details) == ["email"]


def test_an_agents_account_is_switched_and_never_anything_else() -> None:
    agent = make.user("ai_agent")
    admin, path = ApiClient("admin"), f"/api/users/{agent.pk}"

    read = admin.read(path)
    assert (read["role"], read["agentId"]) == ("ai_agent", "ai-agent")
    refused("PATCH", path, {"role": "editor"}, "role")
    refused("PATCH", path, {"password": PASSWORD}, "password")
    assert admin.write("PATCH", path, {**read, "active": False})["active"] is False
