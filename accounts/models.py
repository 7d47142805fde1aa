"""People and agents. The role decides what an account may do (`accounts.roles`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.contrib.auth import get_backends
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from accounts.roles import GRANTS, Role, permissions_of


class UserManager(BaseUserManager["User"]):
    """Makes accounts; the email is stored in lower case."""

    def create_user(
        self,
        email: str,
        password: str | None = None,
        *,
        username: str = "",
        role: str = Role.EDITOR,
        **extra: object,
    ) -> User:
        email = email.strip().lower()
        user = self.model(email=email, username=username or email.split("@")[0], role=role, **extra)
        user.set_password(password)
        user.full_clean(exclude=["password"])
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: object) -> User:
        """What `manage.py createsuperuser` calls: an account with the role admin."""
        return self.create_user(
            email, password, username=str(extra.get("username", "")), role=Role.ADMIN
        )

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """An account. `ai_agent` accounts author what agents write and can never log in."""

    email = models.EmailField(unique=True)
    username = models.CharField(
        max_length=150, unique=True, validators=[UnicodeUsernameValidator()]
    )
    role = models.CharField(
        max_length=20, choices=[(role.value, role.value) for role in GRANTS], default=Role.EDITOR
    )
    agent_id = models.SlugField(
        max_length=80, blank=True, help_text="The agent that this account writes for, if any."
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["username"]

    class Meta:
        verbose_name = "account"
        ordering: ClassVar[list[str]] = ["email"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(Lower("email"), name="user_email_any_case"),
            models.UniqueConstraint(
                fields=["agent_id"], condition=~Q(agent_id=""), name="user_one_per_agent"
            ),
        ]

    def __str__(self) -> str:
        return self.username

    @property
    def can_log_in(self) -> bool:
        return self.is_active and self.role != Role.AI_AGENT

    @property
    def is_staff(self) -> bool:
        """Whether the admin lets the account in: every person, no agent."""
        return self.can_log_in

    @property
    def permissions(self) -> frozenset[str]:
        return permissions_of(self.role) if self.is_active else frozenset()

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        return self.is_active and any(
            backend.has_perm(self, perm, obj)
            for backend in get_backends()
            if hasattr(backend, "has_perm")
        )

    def has_perms(self, perm_list: list[str], obj: models.Model | None = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        """Asked by the admin's index; each admin class decides for itself through `has_perm`."""
        return self.can_log_in

    def get_session_auth_hash(self) -> str:
        """What a session is bound to. With the role in it, a change of role ends every session at once."""
        return salted_hmac(
            "accounts.session." + self.role, super().get_session_auth_hash()
        ).hexdigest()

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        for older in super().get_session_auth_fallback_hash():
            yield salted_hmac("accounts.session." + self.role, older).hexdigest()

    def get_full_name(self) -> str:
        return self.username

    def get_short_name(self) -> str:
        return self.username
