"""`/api/roles`: roles and their permissions."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts.access import all_roles
from proofroom.accounts.models import ROLE_DESCRIPTION_MAX, ROLE_LABEL_MAX, SiteRole
from proofroom.accounts.queries import find_role
from proofroom.accounts.roles import Role
from proofroom.accounts.scope_shapes import ScopeAnswer, ScopeFields
from proofroom.accounts.services.roles import change_role, create_role, remove_role
from proofroom.accounts.user_fields import ROLE_SCHEMA, AnsweredRole
from proofroom.core.api.answer import Answer, MetaAnswer
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import read_query
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet


class RoleAnswer(Answer):
    """A role with its label, its permissions, and the content that it is limited to."""

    role: AnsweredRole
    label: str
    description: str
    permissions: list[str]
    can_log_in: bool
    built_in: bool
    scope: ScopeAnswer
    requires_second_factor: bool = Field(
        description="Whether the role, or `TWO_FACTOR_ROLES`, requires a second factor at login."
    )

    @classmethod
    def of_role(cls, role: SiteRole) -> Self:
        return cls(
            role=role.name,
            label=str(role),
            description=role.description,
            permissions=sorted(role.granted),
            can_log_in=role.name != Role.AI_AGENT,
            built_in=role.is_built_in,
            scope=ScopeAnswer.of(role.scope),
            requires_second_factor=role.must_use_second_factor,
        )


class RemovedRoleAnswer(Answer):
    """A removed role, and the number of accounts moved."""

    role: AnsweredRole
    moved: int = Field(ge=0)


class RoleListAnswer(Answer):
    """Roles."""

    data: list[RoleAnswer]
    meta: MetaAnswer


class NewRole(Body, answered_by=RoleAnswer):
    label: Words = Field(min_length=1, max_length=ROLE_LABEL_MAX)
    description: Words = Field("", max_length=ROLE_DESCRIPTION_MAX)
    permissions: list[Annotated[Words, Field(max_length=80)]] = Field(min_length=1, max_length=500)
    scope: ScopeFields = Field(default_factory=ScopeFields)
    requires_second_factor: bool = False


class RoleChange(NewRole, answered_by=RoleAnswer, partial=True):
    """Absent fields stay unchanged."""


class RemoveQuery(Body):
    move_to: Annotated[Words, Field(max_length=20)] = ""


class RoleViewSet(ApiViewSet):
    """Roles."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": ("users.manage", "tokens.manage"),
        "create": "users.manage",
        "retrieve": ("users.manage", "tokens.manage"),
        "update": "users.manage",
        "destroy": "users.manage",
    }

    @extend_schema(parameters=PAGES, responses=RoleListAnswer)
    def list(self, request: Request) -> Response:
        """List roles, built-in ones first."""
        page, roles = page_of(request), all_roles()
        rows = [RoleAnswer.of_role(role) for role in roles[page.slice]]
        return Response(page.envelope(rows, len(roles)))

    @extend_schema(responses=RoleAnswer)
    def retrieve(self, request: Request, role: str) -> Response:
        """Return a role and the content it is limited to."""
        return Response(RoleAnswer.of_role(find_role(role)))

    @extend_schema(request=NewRole, responses={201: RoleAnswer})
    def create(self, request: Request) -> Response:
        """Create a role. Callers cannot give permissions they lack. Needs a session."""
        body = read_body(request, NewRole)
        role = create_role(
            label=body.label,
            description=body.description,
            permissions=body.permissions,
            scope=body.scope.read(),
            requires_second_factor=body.requires_second_factor,
            actor=self.actor,
        )
        return Response(
            RoleAnswer.of_role(role), status=201, headers={"Location": f"/api/roles/{role.name}"}
        )

    @extend_schema(request=RoleChange, responses=RoleAnswer)
    def update(self, request: Request, role: str) -> Response:
        """Change a role of the site; absent fields stay unchanged. Needs a session.

        If permissions are removed, its accounts are logged out, their tokens revoked.
        """
        body = read_body(request, RoleChange)
        found = find_role(role)
        given = body.model_fields_set
        changed = change_role(
            name=found.name,
            label=body.label if "label" in given else found.label,
            description=body.description if "description" in given else found.description,
            permissions=body.permissions if "permissions" in given else found.granted,
            scope=body.scope.read() if "scope" in given else None,
            requires_second_factor=(
                body.requires_second_factor if "requires_second_factor" in given else None
            ),
            actor=self.actor,
        )
        return Response(RoleAnswer.of_role(changed))

    @extend_schema(
        parameters=[
            query_parameter(
                "moveTo",
                "The role that people with this one get.",
                {"type": "string", **ROLE_SCHEMA},
            )
        ],
        responses=RemovedRoleAnswer,
    )
    def destroy(self, request: Request, role: str) -> Response:
        """Remove a role of the site. Needs a session."""
        asked = read_query(request, RemoveQuery)
        name = find_role(role).name
        moved = remove_role(name=name, move_to=asked.move_to, actor=self.actor)
        return Response(RemovedRoleAnswer(role=name, moved=moved))
