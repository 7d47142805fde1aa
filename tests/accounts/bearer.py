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
    """Create a token of the account, by default with all its permissions."""
    return create_token(
        name="A program",
        permissions=permissions or permissions_of(user.role),
        actor=make.actor("admin"),
        user_id=user.pk,
        expires_at=expires_at,
    )


def program(secret: str, session: str | None = None) -> ApiClient:
    """Return a client that sends the token, and also has a session if a role is given."""
    client = ApiClient(session)
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return client
