"""Authentication by email and password or by token, and `has_perm` from the role."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from proofroom.accounts.models import ApiToken, User
from proofroom.accounts.queries import load_user
from proofroom.accounts.services.account_tokens import TokenUse, hash_of, record_use
from proofroom.core.actor import Actor
from proofroom.core.api.exceptions import InvalidToken
from proofroom.core.api.permissions import ApiCredential
from proofroom.core.content_scope import ContentScope, is_in_scopes, scopes_for
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of, instance_from_row


class RoleBackend(BaseBackend):
    """Authenticate by email and password. Refuse agents and disabled accounts. Permissions come from the role."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        email: str | None = None,
        **kwargs: object,
    ) -> User | None:
        address = (email or username or "").strip().lower()
        user = User.objects.filter(email=address).first() if address else None
        if user is None or password is None or not settings.PASSWORD_LOGIN:
            # Hash a password here too, so that the response time does not reveal whether the account exists.
            User().set_password(password or "")
            return None
        if user.check_password(password) and user.can_log_in:
            return user
        return None

    def get_user(self, user_id: int) -> User | None:
        user = load_user(int(user_id))
        return user if user is not None and user.can_log_in else None

    def has_perm(self, user_obj: object, perm: str, obj: object | None = None) -> bool:
        if not isinstance(user_obj, User) or perm not in user_obj.permissions:
            return False
        return not isinstance(obj, Model) or is_in_scopes(obj, scopes_for(perm, user_obj.scopes))


# A token has 47 characters. Longer values are refused without a query.
_MAX_TOKEN_LENGTH: Final = 200
_OWNER_PREFIX: Final = "user__"
_COLUMNS: Final = (
    "id",
    "name",
    "role",
    "permissions",
    "content_scope",
    "expires_at",
    "last_used_at",
)
# Compiled once: building the query again would add CPU time to each request of the API.
_TOKEN_QUERY: Final = CompiledQuery(
    lambda secret_hash: ApiToken.objects.filter(
        hash=secret_hash, revoked_at__isnull=True, user__is_active=True
    ).values(*_COLUMNS, *(_OWNER_PREFIX + name for name in columns_of(User)))
)


class TokenAuthentication(BaseAuthentication):
    """Bearer token authentication. It comes before the session, so a wrong token is refused despite valid cookies."""

    def authenticate(self, request: Request) -> tuple[User, ApiCredential] | None:
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        secret = secret.strip()
        rows = (
            _TOKEN_QUERY.rows(hash_of(secret))
            if secret and len(secret) <= _MAX_TOKEN_LENGTH
            else []
        )
        if not rows:
            raise InvalidToken
        row, expires_at_value = rows[0], rows[0]["expires_at"]
        if expires_at_value is not None and expires_at_value <= timezone.now():
            raise InvalidToken
        owner = instance_from_row(
            User,
            {
                name.removeprefix(_OWNER_PREFIX): value
                for name, value in row.items()
                if name.startswith(_OWNER_PREFIX)
            },
        )
        # The token was made for the role of that time. If the account has another role since, the token is invalid.
        if not owner.can_log_in or owner.role != row["role"]:
            raise InvalidToken
        token_id = str(row["id"])
        record_use(
            ApiToken,
            row["id"],
            row["last_used_at"],
            lambda: TokenUse(Actor(user=owner, via="api", token_id=token_id), "api", row["name"]),
        )
        scope = ContentScope.from_json(row["content_scope"])
        limited_to = (scope,) if scope.is_limited else ()
        return owner, ApiCredential(token_id, frozenset(row["permissions"]), limited_to)

    def authenticate_header(self, request: Request) -> str:
        # Without this header, REST framework would answer 403 instead of 401.
        return "Bearer"
