"""Answers of `/api/users` and `/api/roles`, without secrets."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.roles import GRANTS, Role
from proofroom.core.models import Event
from tests import make
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
