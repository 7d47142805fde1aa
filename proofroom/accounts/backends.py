"""Logs people in by email and answers `has_perm` from the role."""

from __future__ import annotations

from django.contrib.auth.backends import BaseBackend
from django.http import HttpRequest

from proofroom.accounts.cached_queries import find_user
from proofroom.accounts.models import User
from proofroom.accounts.roles import permissions_of


class RoleBackend(BaseBackend):
    """Email and password; permissions from `proofroom.accounts.roles`. Refuses agents and disabled accounts."""

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
        if user is None or password is None:
            # Unknown and wrong take the same time, so that neither can be told from the other.
            User().set_password(password or "")
            return None
        if user.check_password(password) and user.can_log_in:
            return user
        return None

    def get_user(self, user_id: int) -> User | None:
        user = find_user(int(user_id))
        return user if user is not None and user.can_log_in else None

    def has_perm(self, user_obj: object, perm: str, obj: object | None = None) -> bool:
        return (
            isinstance(user_obj, User)
            and user_obj.is_active
            and perm in permissions_of(user_obj.role)
        )
