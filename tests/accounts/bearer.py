"""Programs that call with an API token."""

from __future__ import annotations

from datetime import datetime

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.services.tokens import create_token
from tests import make
from tests.api_client import ApiClient


def token_of(
    user: User, *permissions: str, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A token of the account, with all its permissions where none are named."""
    return create_token(
        name="A program",
        permissions=permissions or permissions_of(user.role),
        actor=make.actor("admin"),
        user_id=user.pk,
        expires_at=expires_at,
    )


def program(secret: str, session: str | None = None) -> ApiClient:
    """A client that sends the token, beside the session of a role where one is named."""
    client = ApiClient(session)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return client
