"""`/api/users`, `/api/roles`: the accounts of people, and what roles may do."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from django.contrib.auth import update_session_auth_hash
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import presenters, queries
from accounts.api import account_schema as schema
from accounts.models import User
from accounts.roles import Role
from accounts.services import change_user, create_user
from accounts.services.users import LONGEST_PASSWORD
from core.api.body import Body, Words, body_object, check, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.query import YesOrNo, is_yes, read_query
from core.api.views import ApiViewSet
from core.errors import RuleViolation

Email = Annotated[Words, Field(max_length=254)]
Username = Annotated[Words, Field(min_length=1, max_length=150)]
Password = Annotated[Words, Field(max_length=LONGEST_PASSWORD)]
_READ_ONLY: Final = frozenset({"id", "agentId", "createdAt", "lastLoginAt"})


class NewUser(Body):
    email: Email
    username: Username
    role: Literal["admin", "editor", "translator"]
    password: Password


class UserChange(Body):
    email: Email | None = None
    username: Username | None = None
    role: Literal["admin", "editor", "translator", "ai_agent"] | None = None
    active: bool | None = None
    password: Password | None = None


class UserQuery(Body):
    role: Literal["admin", "editor", "translator", "ai_agent"] | None = None
    active: YesOrNo | None = None
    search: Annotated[Words, Field(max_length=200)] = ""


class UserViewSet(ApiViewSet):
    """Accounts."""

    path_schemas = schema.PATHS
    permissions: ClassVar[dict[str, Declared]] = {
        "list": "users.manage",
        "create": "users.manage",
        "retrieve": "users.manage",
        "update": "users.manage",
        "destroy": "users.manage",
        "roles": ("users.manage", "tokens.manage"),
    }

    @extend_schema(parameters=schema.USER_PARAMETERS, responses=schema.AccountListSchema)
    def list(self, request: Request) -> Response:
        """Accounts of people and of agents, by name."""
        page, asked = page_of(request), read_query(request, UserQuery)
        found = queries.users(role=asked.role, is_active=is_yes(asked.active), search=asked.search)
        rows = [presenters.user(user) for user in found[page.slice]]
        return Response(page.envelope(rows, found.count()))

    @extend_schema(request=NewUser, responses={201: schema.AccountSchema})
    def create(self, request: Request) -> Response:
        """Add the account of a person. Needs a session."""
        body = read_body(request, NewUser)
        user = create_user(**body.model_dump(), actor=self.actor)
        return Response(
            presenters.user(user), status=201, headers={"Location": f"/api/users/{user.pk}"}
        )

    @extend_schema(responses=schema.AccountSchema)
    def retrieve(self, request: Request, user_id: str) -> Response:
        """One account."""
        return Response(presenters.user(queries.find_user(user_id)))

    @extend_schema(request=UserChange, responses=schema.AccountSchema)
    def update(self, request: Request, user_id: str) -> Response:
        """Change an account; what is absent or null stays. Needs a session.

        Another role, or switching it off, ends its sessions and revokes its tokens; another password ends its
        sessions, the caller's own excepted.
        """
        given = {
            name: value for name, value in body_object(request).items() if name not in _READ_ONLY
        }
        body = check(given, UserChange)
        values = body.model_dump(exclude={"active"})
        user = self._change(user_id, is_active=body.active, **values)
        if user == request.user and body.password is not None:
            # Whoever changes their own stays where they are; their other sessions end.
            update_session_auth_hash(request._request, user)
        return Response(presenters.user(user))

    @extend_schema(responses=schema.AccountSchema)
    def destroy(self, request: Request, user_id: str) -> Response:
        """Switch the account off. What it wrote stays, and it can be switched on again. Needs a session."""
        return Response(presenters.user(self._change(user_id, is_active=False)))

    @extend_schema(parameters=schema.ROLE_PARAMETERS, responses=schema.RoleListSchema)
    def roles(self, request: Request) -> Response:
        """Roles with their permissions."""
        page = page_of(request)
        rows = [presenters.role(role) for role in Role]
        return Response(page.envelope(rows[page.slice], len(rows)))

    def _change(self, user_id: str, *, is_active: bool | None, **values: str | None) -> User:
        try:
            return change_user(
                user_id=queries.find_user(user_id).pk,
                actor=self.actor,
                is_active=is_active,
                **values,
            )
        except RuleViolation as error:
            raise _on_the_wire(error) from None


def _on_the_wire(error: RuleViolation) -> RuleViolation:
    details = {
        "active" if name == "is_active" else name: texts for name, texts in error.details.items()
    }
    return RuleViolation(error.message, code=error.code, details=details)
