"""The page of API tokens: created with one-time display, listed, revoked."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from proofroom.accounts.models import ApiToken, User
from tests import make
from tests.accounts.bearer import program, token_of

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_accounts/apitoken/"


def typed(**given: Any) -> dict[str, Any]:
    return {
        "name": "Export",
        "user": make.user("editor").pk,
        "permissions": ["posts.view"],
        **given,
    }


def test_a_token_is_made_and_shown_once(signed_in: SignedIn) -> None:
    client = signed_in("admin")

    assert f'href="{LIST}add/"' in client.get(LIST).content.decode()
    answer = client.post(f"{LIST}add/", typed(expires_at="2099-12-31"))
    shown = re.findall(r"cms_[\w-]{43}", answer.content.decode())
    token = ApiToken.objects.get()
    later = [client.get(path).content.decode() for path in (LIST, f"{LIST}{token.pk}/change/")]

    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert len(shown) == 1
    assert program(shown[0]).read("/api/auth/me")["username"] == "editor"
    assert token.expires_at == datetime(2099, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    for page in later:
        assert shown[0] not in page
        assert "Export" in page
        assert token.hint in page


def test_a_token_is_revoked(signed_in: SignedIn) -> None:
    token, secret = token_of(make.user("editor"))
    client = signed_in("admin")

    answer = client.post(f"{LIST}{token.pk}/change/", follow=True)

    page = answer.content.decode()
    assert "Revoked the token" in page
    assert ">Revoke<" not in page
    assert program(secret).get("/api/auth/me").status_code == 401


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"permissions": []}, "This field is required."),
        ({"permissions": ["posts.fly"]}, "is not one of the available choices"),
        ({"permissions": ["users.manage"]}, "does not have"),
        ({"user": "0"}, "is not one of the available choices"),
        ({"expires_at": "2001-01-01"}, "must be in the future"),
        ({"expires_at": "soon"}, "Enter a valid date."),
    ],
)
def test_what_is_wrong_is_said(signed_in: SignedIn, given: dict[str, Any], sentence: str) -> None:
    answer = signed_in("admin").post(f"{LIST}add/", typed(**given))

    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_agents_and_inactive_users_are_not_offered(signed_in: SignedIn) -> None:
    agent, off = make.user("ai_agent"), make.user("translator", "off")
    User.objects.filter(pk=off.pk).update(is_active=False)

    page = signed_in("admin").get(f"{LIST}add/").content.decode()

    choices = page.partition('name="user"')[2].partition("</select>")[0]
    assert ">admin<" in choices
    assert f'value="{agent.pk}"' not in choices
    assert f'value="{off.pk}"' not in choices


@pytest.mark.parametrize("role", ["editor", "translator"])
def test_only_admins_come_in(signed_in: SignedIn, role: str) -> None:
    token, secret = token_of(make.user("admin"))
    client = signed_in(role)

    for path in (LIST, f"{LIST}add/", f"{LIST}{token.pk}/change/"):
        assert client.get(path).status_code == 403
        assert client.post(path, typed()).status_code == 403
    assert client.post(f"{LIST}{token.pk}/delete/", {"post": "yes"}).status_code == 403

    assert ApiToken.objects.count() == 1
    program(secret).read("/api/auth/me")


@pytest.mark.parametrize("bad", ["1", "x", "00000000-0000-4000-8000-000000000000"])
def test_a_token_that_is_not_there(signed_in: SignedIn, bad: str) -> None:
    assert signed_in("admin").get(f"{LIST}{bad}/change/").status_code == 404


def test_names_are_text_and_nothing_else(signed_in: SignedIn) -> None:
    """Threat 31: the name of a token is never markup."""
    name = '<script>alert("x")</script>'
    client = signed_in("admin")

    made = client.post(f"{LIST}add/", typed(name=name))
    listed = client.get(LIST)

    for page in (made, listed):
        assert b"<script>alert" not in page.content
        assert b"&lt;script&gt;alert" in page.content
