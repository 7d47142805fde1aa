"""API tokens are created, listed, and refused where not allowed."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.account_tokens import hash_of
from proofroom.accounts.services.tokens import create_token
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def test_a_token_is_made_shown_once_and_opens_what_it_names() -> None:
    admin = ApiClient("admin")

    made = admin.write(
        "POST",
        "/api/tokens",
        {"name": " Export ", "permissions": ["posts.view", "posts.view", "media.view"]},
        expect=201,
    )
    secret = made.pop("token")
    me = program(secret).read("/api/auth/me")
    listed = admin.read("/api/tokens")["data"]

    assert secret.startswith("cms_")
    assert len(secret) == 47
    assert (made["name"], made["hint"], made["state"]) == ("Export", secret[-4:], "active")
    assert made["permissions"] == ["media.view", "posts.view"]
    assert (made["username"], made["createdBy"]["username"]) == ("admin", "admin")
    assert (made["expiresAt"], made["lastUsedAt"], made["revokedAt"]) == (None, None, None)
    assert (me["username"], me["role"]) == ("admin", "admin")
    assert me["permissions"] == ["media.view", "posts.view"]
    assert [{**row, "lastUsedAt": None} for row in listed] == [made]
    assert listed[0]["lastUsedAt"] is not None


def test_threat_41_only_the_hash_of_a_token_is_stored() -> None:
    token, secret = token_of(make.user("editor"))

    row = ApiToken.objects.values().get()
    event = Event.objects.get(name="token.created")

    assert token.hash == hash_of(secret)
    assert secret[4:-4] not in str(row)
    assert secret[4:-4] not in str(event.payload)
    assert secret[4:-4] not in ApiClient("admin").get("/api/tokens").content.decode()


def test_threat_14_tokens_are_listed_by_their_own_account() -> None:
    mine, _ = token_of(make.user("editor"))
    other, _ = token_of(make.user("translator"))
    admin = ApiClient("admin")

    for token in (mine, other):
        listed = admin.read(f"/api/tokens?userId={token.user_id}")["data"]
        assert [row["id"] for row in listed] == [str(token.pk)]


GOOD = {"name": "x", "permissions": ["posts.view"]}


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"permissions": ["posts.view"]}, "name"),
        ({**GOOD, "name": ""}, "name"),
        ({**GOOD, "name": "   "}, "name"),
        ({**GOOD, "name": "x" * 101}, "name"),
        ({**GOOD, "name": "a\x00b"}, "name"),
        ({**GOOD, "name": 5}, "name"),
        ({"name": "x"}, "permissions"),
        ({**GOOD, "permissions": []}, "permissions"),
        ({**GOOD, "permissions": ["posts.view"] * 101}, "permissions"),
        ({**GOOD, "permissions": "posts.view"}, "permissions"),
        ({**GOOD, "permissions": [1]}, "permissions.0"),
        ({**GOOD, "permissions": ["posts.ai-review.save"]}, "permissions"),
        ({**GOOD, "expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt"),
        ({**GOOD, "expiresAt": "2099-01-01T00:00:00"}, "expiresAt"),
        ({**GOOD, "expiresAt": "0001-01-01T00:00:00+14:00"}, "expiresAt"),
        ({**GOOD, "expiresAt": "tomorrow"}, "expiresAt"),
        ({**GOOD, "expiresAt": 4_000_000_000}, "expiresAt"),
        ({**GOOD, "userId": True}, "userId"),
        ({**GOOD, "userId": "1"}, "userId"),
        ({**GOOD, "userId": 0}, "userId"),
        ({**GOOD, "userId": 10**15}, "userId"),
        ({**GOOD, "userId": 10**30}, "userId"),
        ({**GOOD, "hash": "x"}, "hash"),
    ],
)
def test_what_no_token_may_be(body: dict[str, Any], key: str) -> None:
    admin, before = ApiClient("admin"), stored()

    answer = admin.send("POST", "/api/tokens", body)

    assert key in error(answer, 422, "invalid")["details"]
    assert stored() == before
    assert not ApiToken.objects.exists()


def test_only_an_active_person_can_have_a_token() -> None:
    agent, off = make.user("ai_agent"), make.user("editor", "off")
    User.objects.filter(pk=off.pk).update(is_active=False)

    for user_id in (agent.pk, off.pk, 10**6):
        with pytest.raises(RuleViolation) as caught:
            create_token(
                name="x", permissions=["posts.view"], actor=make.actor("admin"), user_id=user_id
            )
        assert list(caught.value.details) == ["user_id"]
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("via", ["mcp", "agent"])
def test_agents_make_no_tokens(via: Any) -> None:
    with pytest.raises(NotAllowed):
        create_token(name="x", permissions=["posts.view"], actor=make.actor("admin", via=via))
    assert not ApiToken.objects.exists()


def test_a_time_in_another_zone_is_the_same_moment() -> None:
    made = ApiClient("admin").write(
        "POST", "/api/tokens", {**GOOD, "expiresAt": "2099-01-01T02:00:00+02:00"}, expect=201
    )

    assert made["expiresAt"] == "2099-01-01T00:00:00.000Z"
