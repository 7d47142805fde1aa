"""`Authorization: Bearer …`: a program that calls the API in a person's name."""

from __future__ import annotations

from typing import Final

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.services.account_tokens import hash_of, record_use
from proofroom.core.api.authentication import ApiCredential
from proofroom.core.api.exceptions import InvalidToken
from proofroom.core.database.statements import Row, Statement, columns_of, instance_from_row

_LONGEST: Final = 200
_OWNER: Final = "user__"
_COLUMNS: Final = ("id", "role", "permissions", "expires_at", "last_used_at")
_TOKEN: Final = Statement(
    lambda secret_hash: ApiToken.objects.filter(
        hash=secret_hash, revoked_at__isnull=True, user__is_active=True
    ).values(*_COLUMNS, *(_OWNER + name for name in columns_of(User)))
)


class TokenAuthentication(BaseAuthentication):
    """A token stands before a session: a wrong one is refused, whatever cookies came with it."""

    def authenticate(self, request: Request) -> tuple[User, ApiCredential] | None:
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        secret = secret.strip()
        row = _found(secret) if secret and len(secret) <= _LONGEST else None
        if row is None:
            raise InvalidToken
        owner = instance_from_row(
            User,
            {
                name.removeprefix(_OWNER): value
                for name, value in row.items()
                if name.startswith(_OWNER)
            },
        )
        if not owner.can_log_in or owner.role != row["role"]:
            raise InvalidToken
        record_use(ApiToken, row["id"], row["last_used_at"])
        return owner, ApiCredential(str(row["id"]), frozenset(row["permissions"]))

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _found(secret: str) -> Row | None:
    rows = _TOKEN.rows(hash_of(secret))
    if not rows:
        return None
    ends = rows[0]["expires_at"]
    return None if ends is not None and ends <= timezone.now() else rows[0]
