"""`/api/invitations`: invitations by email, with a role."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts.invitation_mail import link_of, mail_invitation
from proofroom.accounts.models import EMAIL_MAX, User
from proofroom.accounts.queries import list_invitations
from proofroom.accounts.services.invitations import create_invitation, revoke_invitation
from proofroom.accounts.user_fields import AnsweredRole, PersonRole
from proofroom.core.api.answer import Answer, list_of, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotFound
from proofroom.core.validation.input_validation import parse_uuid

INVITATION_STATES: Final = ("pending", "accepted", "expired", "revoked")


class InvitationAnswer(Answer):
    """An invitation to create an account."""

    id: UUID
    email: str = Field(max_length=EMAIL_MAX, json_schema_extra={"format": "email"})
    role: AnsweredRole
    state: Annotated[str, one_of(INVITATION_STATES)]
    created_at: datetime
    expires_at: datetime


class MadeInvitationAnswer(InvitationAnswer):
    """A new invitation. `link` is set only here, and only if no mail was sent."""

    link: str | None


class NewInvitation(Body):
    email: Annotated[Words, Field(max_length=EMAIL_MAX)]
    role: PersonRole


class InvitationViewSet(ApiViewSet):
    """Invitations."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "users.manage",
        "create": "users.manage",
        "destroy": "users.manage",
    }

    @extend_schema(
        parameters=PAGES, responses=list_of(InvitationAnswer, "Invitations, newest first.")
    )
    def list(self, request: Request) -> Response:
        """List invitations, ended ones included."""
        page, found = page_of(request), list_invitations()
        invitations = [*found[page.slice]]
        # The state of an invitation depends on the role of its inviter. One query for all.
        User.preload_roles(row.invited_by for row in invitations if row.invited_by)
        rows = [InvitationAnswer.of(row) for row in invitations]
        return Response(page.envelope(rows, found.count()))

    @extend_schema(request=NewInvitation, responses={201: MadeInvitationAnswer})
    def create(self, request: Request) -> Response:
        """Invite a person. Older invitations to the address end. Needs a session."""
        body = read_body(request, NewInvitation)
        invitation, secret = create_invitation(email=body.email, role=body.role, actor=self.actor)
        is_mailed = mail_invitation(request, invitation, secret)
        link = None if is_mailed else link_of(secret)
        return Response(MadeInvitationAnswer.of(invitation, link=link), status=201)

    @extend_schema(responses=InvitationAnswer)
    def destroy(self, request: Request, invitation_id: str) -> Response:
        """Revoke an open invitation. Needs a session."""
        id_ = parse_uuid(invitation_id)
        if id_ is None:
            raise NotFound(
                f"No invitation has the ID {invitation_id[:80]}.", code="unknown_invitation"
            )
        invitation = revoke_invitation(invitation_id=id_, actor=self.actor)
        return Response(InvitationAnswer.of(invitation))
