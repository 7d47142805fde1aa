"""Accounts, roles and API tokens."""

from __future__ import annotations

from uuid import uuid4

from proofroom.accounts.models import ApiToken, Invitation, SiteRole, User
from proofroom.accounts.services.invitations import create_invitation
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
    make.site_role("walked", "posts.view")
    invited = create_invitation(email="invited@example.com", role="editor", actor=admin)[0]
    return {
        "user_id": make.user("translator", "target").pk,
        "token_id": str(token.pk),
        "role": "walked",
        "invitation_id": str(invited.pk),
    }


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


def grow_roles(number: int) -> None:
    of = SiteRole.objects.get(name="walked")
    names = [uuid4().hex[:20] for _ in range(number)]
    make.copies(of, number, name=lambda at: names[at], label=lambda at: names[at])


def grow_invitations(number: int) -> None:
    make.copies(Invitation.objects.earliest("created_at"), number, hash=lambda _: uuid4().hex)


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
    Endpoint("GET /api/roles", ADMIN, invalid=("?page=0", "page"), grow=grow_roles),
    Endpoint(
        "POST /api/roles",
        ADMIN,
        201,
        body={"label": "Desk", "permissions": ["posts.view"], "scope": {"types": ["page"]}},
        invalid=({"label": "Desk", "permissions": ["posts.fly"]}, "permissions"),
    ),
    Endpoint("GET /api/roles/<role>", ADMIN),
    Endpoint(
        "PATCH /api/roles/<role>",
        ADMIN,
        body={"description": "Walked"},
        invalid=({"scope": {"types": ["castle"]}}, "types"),
    ),
    Endpoint("DELETE /api/roles/<role>", ADMIN),
    Endpoint("GET /api/invitations", ADMIN, invalid=("?page=0", "page"), grow=grow_invitations),
    Endpoint(
        "POST /api/invitations",
        ADMIN,
        201,
        body={"email": "new@example.com", "role": "editor"},
        invalid=({"email": "new@example.com", "role": "owner"}, "role"),
    ),
    Endpoint("DELETE /api/invitations/<invitation_id>", ADMIN),
    Endpoint("GET /api/tokens", ADMIN, invalid=("?userId=x", "userId"), grow=grow_tokens),
    Endpoint(
        "POST /api/tokens",
        ADMIN,
        201,
        body={"name": "Walked", "permissions": ["posts.view"]},
        invalid=({"name": "x", "permissions": ["posts.fly"]}, "permissions"),
    ),
    Endpoint(
        "PATCH /api/tokens/<token_id>",
        ADMIN,
        body={"scope": {"types": ["page"]}},
        invalid=({"scope": {"types": ["castle"]}}, "types"),
    ),
    Endpoint("DELETE /api/tokens/<token_id>", ADMIN),
]
