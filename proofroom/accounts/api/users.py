"""`/api/users`: accounts."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from django.contrib.auth import update_session_auth_hash
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts import queries
from proofroom.accounts.models import User
from proofroom.accounts.services.users import change_user, create_user
from proofroom.accounts.user_fields import ROLE_SCHEMA, AccountAnswer, NewUser, RoleName, UserChange
from proofroom.core.api.answer import list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.django_request import django_request
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import BooleanText, parse_boolean, read_query
from proofroom.core.api.schema import PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import RuleViolation

USER_ID: Final = {"user_id": {"type": "integer", "minimum": 1}}
USER_PARAMETERS: Final = [
    query_parameter("role", "Accounts with this role.", {"type": "string", **ROLE_SCHEMA}),
    query_parameter("active", "Accounts that are on, or off.", choice_schema("true", "false")),
    query_parameter("search", "A part of name or email.", {"type": "string", "maxLength": 200}),
    *PAGES,
]


class UserQuery(Body):
    role: RoleName | None = None
    active: BooleanText | None = None
    search: Annotated[Words, Field(max_length=200)] = ""


class UserViewSet(ApiViewSet):
    """Accounts."""

    path_schemas = USER_ID
    permissions: ClassVar[dict[str, Declared]] = {
        "list": "users.manage",
        "create": "users.manage",
        "retrieve": "users.manage",
        "update": "users.manage",
        "destroy": "users.manage",
    }

    @extend_schema(
        parameters=USER_PARAMETERS, responses=list_of(AccountAnswer, "Accounts by name.")
    )
    def list(self, request: Request) -> Response:
        """List accounts of people and agents, by name."""
        page, asked = page_of(request), read_query(request, UserQuery)
        found = queries.list_users(
            role=asked.role, is_active=parse_boolean(asked.active), search=asked.search
        )
        rows = [AccountAnswer.model_validate(user) for user in found[page.slice]]
        return Response(page.envelope(rows, found.count()))

    @extend_schema(request=NewUser, responses={201: AccountAnswer})
    def create(self, request: Request) -> Response:
        """Add the account of a person. Needs a session."""
        body = read_body(request, NewUser)
        user = create_user(**body.model_dump(), actor=self.actor)
        return Response(
            AccountAnswer.model_validate(user),
            status=201,
            headers={"Location": f"/api/users/{user.pk}"},
        )

    @extend_schema(responses=AccountAnswer)
    def retrieve(self, request: Request, user_id: str) -> Response:
        """One account."""
        return Response(AccountAnswer.model_validate(queries.find_user(user_id)))

    @extend_schema(request=UserChange, responses=AccountAnswer)
    def update(self, request: Request, user_id: str) -> Response:
        """Change an account; absent or null fields stay. Needs a session.

        Another role or switching it off ends its sessions and revokes its tokens; a new password ends its
        sessions, except the caller's own.
        """
        body = read_body(request, UserChange)
        values = body.model_dump(exclude={"active"})
        user = self.change(user_id, is_active=body.active, **values)
        if user == request.user and body.password is not None:
            # A new password ends all sessions. Renew this one, so that users who change their own stay logged in.
            update_session_auth_hash(django_request(request), user)
        return Response(AccountAnswer.model_validate(user))

    @extend_schema(responses=AccountAnswer)
    def destroy(self, request: Request, user_id: str) -> Response:
        """Switch the account off. Its content stays, and it can be switched on again. Needs a session."""
        return Response(AccountAnswer.model_validate(self.change(user_id, is_active=False)))

    def change(self, user_id: str, **values: Any) -> User:
        """Change the account. Details of a refusal use the names of the request body."""
        try:
            return change_user(user_id=queries.find_user(user_id).pk, actor=self.actor, **values)
        except RuleViolation as error:
            details = {
                "active" if name == "is_active" else name: texts
                for name, texts in error.details.items()
            }
            raise RuleViolation(error.message, code=error.code, details=details) from None
