"""Accounts, roles and API tokens."""

from __future__ import annotations

from uuid import uuid4

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.tokens import create_token
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names

NEW = {
    "email": "walked@example.com",
    "username": "walked",
    "role": "editor",
    "password": "a-long-enough-one",
}


def scene() -> Names:
    admin = make.actor("admin")
    make.user("admin", "other-admin")
    token, _ = create_token(name="Walked", permissions=["posts.view"], actor=admin)
    return {"user_id": make.user("translator", "target").pk, "token_id": str(token.pk)}


def grow_users(number: int) -> None:
    of = User.objects.get(username="target")
    make.copies(
        of,
        number,
        email=lambda _: f"{uuid4()}@example.com",
        username=lambda _: uuid4().hex,
    )


def grow_tokens(number: int) -> None:
    make.copies(ApiToken.objects.earliest("created_at"), number, hash=lambda _: uuid4().hex)


ENDPOINTS = [
    Endpoint("GET /api/users", ADMIN, invalid=("?role=owner", "role"), grow=grow_users),
    Endpoint("POST /api/users", ADMIN, 201, body=NEW, invalid=({**NEW, "role": "x"}, "role")),
    Endpoint("GET /api/users/<user_id>", ADMIN),
    Endpoint(
        "PATCH /api/users/<user_id>",
        ADMIN,
        body={"role": "editor"},
        invalid=({"active": 1}, "active"),
    ),
    Endpoint("DELETE /api/users/<user_id>", ADMIN),
    Endpoint("GET /api/roles", ADMIN, invalid=("?page=0", "page")),
    Endpoint("GET /api/tokens", ADMIN, invalid=("?userId=x", "userId"), grow=grow_tokens),
    Endpoint(
        "POST /api/tokens",
        ADMIN,
        201,
        body={"name": "Walked", "permissions": ["posts.view"]},
        invalid=({"name": "x", "permissions": ["posts.fly"]}, "permissions"),
    ),
    Endpoint("DELETE /api/tokens/<token_id>", ADMIN),
]
