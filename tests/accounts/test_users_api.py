"""`/api/users` and `/api/roles`: answers without secrets, and errors with nothing changed."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import IntegrityError

from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.roles import GRANTS, Role
from proofroom.accounts.services import users as service
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
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


def test_an_account_is_made_read_and_listed_without_its_password() -> None:
    admin = ApiClient("admin")

    response = admin.send("POST", "/api/users", NEW)
    made = response.json()
    listed = admin.read("/api/users")

    assert response.status_code == 201
    assert response["Location"] == f"/api/users/{made['id']}"
    assert {**made, "createdAt": ""} == {
        "id": User.objects.get(username="new").pk,
        "email": "new@example.com",
        "username": "new",
        "role": "translator",
        "active": True,
        "agentId": None,
        "createdAt": "",
        "lastLoginAt": None,
    }
    assert admin.read(f"/api/users/{made['id']}") == made
    assert made in listed["data"]
    assert [row["username"] for row in listed["data"]] == ["admin", "new"]
    assert ApiClient().login(email="new@example.com", password=PASSWORD)


def test_no_password_is_answered_or_logged(caplog: pytest.LogCaptureFixture) -> None:
    admin = ApiClient("admin")

    with caplog.at_level(logging.DEBUG):
        texts = [
            admin.send("POST", "/api/users", body).content.decode()
            for body in (NEW, {**NEW, "password": "secret1"}, {**NEW, "nonsense": 1})
        ]

    assert [PASSWORD in text or "secret1" in text for text in texts] == [False] * 3
    assert PASSWORD not in caplog.text
    assert "secret1" not in caplog.text
    assert PASSWORD not in str(list(Event.objects.values()))


def test_what_is_given_changes_and_what_was_read_can_be_put_back() -> None:
    user, admin = make.user("editor"), ApiClient("admin")
    path = f"/api/users/{user.pk}"

    read = admin.read(path)
    unchanged = admin.write("PATCH", path, read)
    changed = admin.write("PATCH", path, {"username": "other", "role": "translator"})

    assert unchanged == read
    assert changed == {**read, "username": "other", "role": "translator"}
    assert Event.objects.filter(name="user.changed").count() == 1


def test_deleting_switches_off_and_what_was_written_stays() -> None:
    user, admin = make.user("editor"), ApiClient("admin")
    session = ApiClient("editor")
    post = session.write("POST", "/api/posts", {"type": "blog", "title": "Stays"}, expect=201)

    off = admin.write("DELETE", f"/api/users/{user.pk}")
    again = admin.write("DELETE", f"/api/users/{user.pk}")

    assert (off["active"], again) == (False, off)
    session.read("/api/auth/me", expect=401)
    assert admin.read(f"/api/posts/{post['id']}")["title"] == "Stays"
    assert admin.write("PATCH", f"/api/users/{user.pk}", {"active": True})["active"] is True
    session.read("/api/auth/me", expect=401)


def test_a_new_password_ends_the_other_sessions_and_not_ones_own() -> None:
    user = make.user("editor")
    here, elsewhere, editor = ApiClient("admin"), ApiClient("admin"), ApiClient("editor")
    own = f"/api/users/{make.user('admin').pk}"

    here.write("PATCH", f"/api/users/{user.pk}", {"password": PASSWORD})
    here.write("PATCH", own, {"password": PASSWORD})

    editor.read("/api/auth/me", expect=401)
    elsewhere.read("/api/auth/me", expect=401)
    here.read("/api/auth/me")
    assert ApiClient().login(email="editor@example.com", password=PASSWORD)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?role=editor", ["editor", "off"]),
        ("?active=false", ["off"]),
        ("?role=editor&active=true", ["editor"]),
        ("?search=EDIT", ["editor"]),
        ("?search=off@", ["off"]),
        ("?search=%25", []),
        ("?role=ai_agent", ["ai_agent"]),
        ("?per_page=1&page=2", ["ai_agent"]),
    ],
)
def test_accounts_are_found(query: str, names: list[str]) -> None:
    for role in ("editor", "ai_agent"):
        make.user(role)
    User.objects.filter(pk=make.user("editor", "off").pk).update(is_active=False)

    listed = ApiClient("admin").read(f"/api/users{query}")

    assert [row["username"] for row in listed["data"]] == names


def test_nothing_is_found_by_what_is_no_filter() -> None:
    refused = ApiClient("admin").read("/api/users?email__startswith=a&password=x", expect=422)

    assert set(refused["details"]) == {"email__startswith", "password"}


def test_roles_say_what_they_may_do() -> None:
    admin = ApiClient("admin")
    make.site_role("weak", "posts.view")

    listed = admin.read("/api/roles")

    assert listed["meta"]["total"] == len(Role) + 1
    # The list equals the single answers.
    assert listed["data"] == [admin.read(f"/api/roles/{row['role']}") for row in listed["data"]]
    for role, row in zip(Role, listed["data"][: len(Role)], strict=True):
        assert (row["role"], row["canLogIn"]) == (role.value, role != Role.AI_AGENT)
        assert row["permissions"] == sorted(GRANTS[role])
        assert row["label"] == str(SiteRole.objects.get(name=role.value))


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
        ({"email": ""}, "email"),
        ({"email": "EDITOR@example.com"}, "email"),
        ({"email": "x" * 250 + "@example.com"}, "email"),
        ({"email": "a\x00@example.com"}, "email"),
        ({"email": None}, "email"),
        ({"username": ""}, "username"),
        ({"username": "editor"}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": ["x"]}, "username"),
        ({"role": "ai_agent"}, "role"),
        ({"role": "owner"}, "role"),
        ({"role": 1}, "role"),
        ({"password": "short"}, "password"),
        ({"password": "password1"}, "password"),
        ({"password": ""}, "password"),
        ({"password": "x" * 1001}, "password"),
        ({"password": 12345678}, "password"),
        ({"is_superuser": True}, "is_superuser"),
        ({"sessionEpoch": 1}, "sessionEpoch"),
    ],
)
def test_what_no_account_may_have(given: dict[str, Any], key: str) -> None:
    make.user("editor")

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
