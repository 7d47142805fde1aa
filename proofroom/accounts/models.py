"""Accounts of people and agents. The role decides what an account may do (`proofroom.accounts.roles`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.contrib.auth import get_backends
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property
from django.utils.translation import gettext

from proofroom.accounts.roles import (
    ROLE_NAME_MAX,
    Role,
    all_permissions,
    assignable_permissions,
    declared_role_label,
    grants,
)
from proofroom.core.content_scope import ContentScope
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of, first_instance
from proofroom.core.i18n.languages import validate_language
from proofroom.core.i18n.time_zones import validate_time_zone
from proofroom.core.i18n.words import MARK, compile_pattern

EMAIL_MAX: Final = 254
USERNAME_MAX: Final = 150
PUBLIC_NAME_MAX: Final = 100
TOKEN_NAME_MAX: Final = 100
DELIVERY_RATE_MAX: Final = 20
ROLE_LABEL_MAX: Final = 60
ROLE_DESCRIPTION_MAX: Final = 200
# Django's `UnicodeUsernameValidator` refuses combining marks and joiners, which names in many scripts need.
_USERNAME_CHARACTERS: Final = rf"\w{MARK}\u200c\u200d.@+-"
NOT_IN_USERNAMES: Final = compile_pattern(rf"[^{_USERNAME_CHARACTERS}]+")


def validate_username(value: str) -> None:
    """Raise `ValidationError` unless `value` has only letters, marks and digits of any script, and `@.+-_`."""
    if not value or NOT_IN_USERNAMES.search(value):
        validator = UnicodeUsernameValidator()
        raise ValidationError(validator.message, code=validator.code)


class SiteRole(models.Model):
    """A role. Built-in roles and roles of apps also have rows, written by `migrate`.

    These rows hold only the name. The permissions are in code (`proofroom.accounts.roles`).
    """

    name = models.CharField(max_length=ROLE_NAME_MAX, primary_key=True, editable=False)
    is_built_in = models.BooleanField(default=False, editable=False)
    label = models.CharField(max_length=ROLE_LABEL_MAX, blank=True)
    description = models.CharField(max_length=ROLE_DESCRIPTION_MAX, blank=True)
    permissions = models.JSONField(default=list)
    content_scope = models.JSONField(default=dict, blank=True)
    requires_second_factor = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "role"
        ordering: ClassVar[list[str]] = ["-is_built_in", "label", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                # Rows of built-in roles have no label.
                Lower("label"),
                condition=~Q(label=""),
                name="role_label_any_case",
            )
        ]

    def __str__(self) -> str:
        return role_label(self.name) if self.is_built_in else self.label

    @property
    def granted(self) -> frozenset[str]:
        """The permissions of the role. A permission that no installed app declares grants nothing."""
        if self.is_built_in:
            return grants().get(self.name, frozenset())
        return assignable_permissions().intersection(self.permissions)

    @property
    def promised(self) -> frozenset[str]:
        """The permissions of the role, with those of apps that are not installed now."""
        # Reinstalling an app restores its permissions, so checks against privilege escalation count them already.
        return self.granted.union({*self.permissions} - all_permissions())

    @property
    def must_use_second_factor(self) -> bool:
        """True if `TWO_FACTOR_ROLES` or the row requires a second factor."""
        return self.name in settings.TWO_FACTOR_ROLES or self.requires_second_factor

    @property
    def scope(self) -> ContentScope:
        """The content the role is limited to."""
        return ContentScope.from_json({} if self.is_built_in else self.content_scope)

    @cached_property
    def scopes(self) -> tuple[ContentScope, ...]:
        """The scope as a tuple, empty if it limits nothing."""
        # One object per role, because it caches its lookups, such as the paths of its sections.
        return (self.scope,) if self.scope.is_limited else ()

    @classmethod
    def find(cls, name: str) -> SiteRole | None:
        """Return the site's role with this name, or None. One query."""
        found = first_instance(cls, _SITE_ROLE.rows(name))
        # Rows of built-in roles hold no permissions; `grants` does.
        return None if found is None or found.is_built_in else found


_SITE_ROLE: Final = CompiledQuery(
    lambda name: SiteRole.objects.filter(name=name).values(*columns_of(SiteRole))
)


def role_label(name: str) -> str:
    """Return the label of a role in the reader's language, or its name if the role is unknown."""
    if name in grants():
        return declared_role_label(name)
    found = SiteRole.find(name)
    return found.label if found is not None else name


def validate_role(name: str) -> None:
    """Raise `ValidationError` if no role has this name. One query for names that the code does not declare."""
    if name not in grants() and SiteRole.find(name) is None:
        raise ValidationError(gettext("No role is called %(name)r.") % {"name": name})


class UserManager(BaseUserManager["User"]):
    """Creates accounts. Emails are stored in lower case."""

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
        with transaction.atomic(using=self._db):
            user.save(using=self._db)
            user.confirm_email()
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: object) -> User:
        """Create an account with the role admin, for `manage.py createsuperuser`."""
        return self.create_user(
            email, password, username=str(extra.get("username", "")), role=Role.ADMIN
        )

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """An account. Accounts with the role `ai_agent` are the authors of what agents write, and can never log in."""

    email = models.EmailField(max_length=EMAIL_MAX, unique=True)
    username = models.CharField(
        max_length=USERNAME_MAX, unique=True, validators=[validate_username]
    )
    role = models.CharField(
        max_length=ROLE_NAME_MAX, validators=[validate_role], default=Role.EDITOR
    )
    agent_id = models.SlugField(
        max_length=80, blank=True, help_text="The agent that this account writes for, if any."
    )
    is_active = models.BooleanField(default=True)
    session_epoch = models.PositiveIntegerField(
        default=0, editable=False, help_text="Grows with what ends every session of the account."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When its personal data was erased."
    )

    objects: ClassVar[UserManager] = UserManager()
    _site_role: tuple[str, SiteRole | None] | None = None

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["username"]

    class Meta:
        verbose_name = "account"
        ordering: ClassVar[list[str]] = ["email"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(Lower("email"), name="user_email_any_case"),
            models.UniqueConstraint(
                # Accounts of people have no agent.
                fields=["agent_id"],
                condition=~Q(agent_id=""),
                name="user_one_per_agent",
            ),
        ]

    def __str__(self) -> str:
        return self.username

    def confirm_email(self) -> None:
        """Replace the account's email addresses by `email`, confirmed, because an administrator vouches for it."""
        from allauth.account.models import EmailAddress

        EmailAddress.objects.filter(user_id=self.pk).delete()
        EmailAddress.objects.create(user_id=self.pk, email=self.email, verified=True, primary=True)

    @property
    def can_log_in(self) -> bool:
        return self.is_active and self.role != Role.AI_AGENT

    @property
    def is_staff(self) -> bool:
        """True if the account may open the admin: all people, no agents."""
        return self.can_log_in

    @property
    def site_role(self) -> SiteRole | None:
        """The row of a role made by the site, cached; None for declared roles."""
        if self.role in grants():
            return None
        # The name is cached with the row: if `role` is reassigned, the cached row is wrong.
        if self._site_role is None or self._site_role[0] != self.role:
            self._site_role = self.role, SiteRole.find(self.role)
        return self._site_role[1]

    @staticmethod
    def preload_roles(users: Iterable[User]) -> None:
        """Load the site's roles of these accounts. One query, none if no account has such a role."""
        theirs = [user for user in users if user.role not in grants()]
        found = SiteRole.objects.in_bulk({user.role for user in theirs}) if theirs else {}
        for user in theirs:
            user._site_role = user.role, found.get(user.role)

    @property
    def permissions(self) -> frozenset[str]:
        if not self.is_active:
            return frozenset()
        if self.role in grants():
            return grants()[self.role]
        return self.site_role.granted if self.site_role is not None else frozenset()

    @property
    def scopes(self) -> tuple[ContentScope, ...]:
        """The scopes of the role; empty for most roles."""
        return self.site_role.scopes if self.site_role is not None else ()

    @property
    def must_use_second_factor(self) -> bool:
        """True if the role requires a second factor, whether or not the account has one."""
        return (self.site_role or SiteRole(name=self.role)).must_use_second_factor

    @property
    def role_label(self) -> str:
        """The label of the role in the reader's language."""
        return str(self.site_role or role_label(self.role))

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        return self.is_active and any(
            backend.has_perm(self, perm, obj)
            for backend in get_backends()
            if hasattr(backend, "has_perm")
        )

    def has_perms(self, perm_list: list[str], obj: models.Model | None = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        """Return True for people. Each admin class checks its own permissions in `has_perm`."""
        return self.can_log_in

    def get_session_auth_hash(self) -> str:
        """Return the hash that a session is bound to: password, role and epoch."""
        # Role and epoch are part of it, so that a changed role ends all sessions, and an account that is turned on
        # again does not get its old sessions back.
        return self._bind(super().get_session_auth_hash(), settings.SECRET_KEY)

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        keys = settings.SECRET_KEY_FALLBACKS
        for fallback_hash, key in zip(super().get_session_auth_fallback_hash(), keys, strict=True):
            yield self._bind(fallback_hash, key)

    def _bind(self, value: str, key: str) -> str:
        return salted_hmac(
            f"accounts.session.{self.role}.{self.session_epoch}", value, secret=key
        ).hexdigest()

    def get_full_name(self) -> str:
        return self.username

    def get_short_name(self) -> str:
        return self.username


class Theme(models.TextChoices):
    """The colour theme of the admin. `auto` follows the operating system."""

    AUTO = "auto", "System"
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class Density(models.TextChoices):
    """The height of rows and controls."""

    COMFORTABLE = "comfortable", "Comfortable"
    COMPACT = "compact", "Compact"


class Preferences(models.Model):
    """The admin preferences of a user. An account without a row has the defaults.

    An empty `time_zone` means the browser's; an empty `language` leaves the choice to the browser.
    """

    user = models.OneToOneField(
        User, primary_key=True, on_delete=models.CASCADE, related_name="preferences"
    )
    time_zone = models.CharField(max_length=64, blank=True, validators=[validate_time_zone])
    language = models.CharField(max_length=10, blank=True, validators=[validate_language])
    theme = models.CharField(max_length=5, choices=Theme, default=Theme.AUTO)
    density = models.CharField(max_length=11, choices=Density, default=Density.COMFORTABLE)
    has_letter_keys = models.BooleanField(
        default=True, help_text="Whether single letters are keyboard shortcuts."
    )
    is_named_publicly = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether pages may name the account as the one who approved AI work.",
    )
    public_name = models.CharField(
        max_length=PUBLIC_NAME_MAX,
        blank=True,
        default="",
        db_default="",
        help_text="Name that readers see below what the person wrote. Empty: they see none.",
    )

    class Meta:
        verbose_name = "preferences"
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class ProgramToken(models.Model):
    """A token of a program. Only its hash is stored."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=TOKEN_NAME_MAX)
    hash = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=4, editable=False)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """`revoked`, `expired` or `active`. The account's state is not considered."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if is_over else "active"


class AccountToken(ProgramToken):
    """A token bound to an account.

    `role`: the account's role when the token was made; with another role the token is invalid. `content_scope`: the
    content the token is limited to, within the account's.
    """

    role = models.CharField(max_length=20, editable=False)
    content_scope = models.JSONField(default=dict, blank=True)

    user: models.ForeignKey[User, User]
    user_id: int

    class Meta:
        abstract = True

    @property
    def scope(self) -> ContentScope:
        """The content the token is limited to."""
        return ContentScope.from_json(self.content_scope)


class ApiToken(AccountToken):
    """A token for the API that acts as an account."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    permissions = models.JSONField(default=list)

    class Meta:
        verbose_name = "API token"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "-id"], name="api_token_newest")
        ]


class DeliveryToken(ProgramToken):
    """A token of a frontend, bound to no account. It only gives reads of published content a rate of their own.

    An empty `rate` is that of the setting.
    """

    rate = models.CharField(max_length=DELIVERY_RATE_MAX, blank=True, default="")

    class Meta:
        verbose_name = "delivery token"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "-id"], name="delivery_token_newest")
        ]


class LoginDevice(models.Model):
    """A device that an account logged in from, identified by `services.sign_in.device_key`."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="login_devices")
    key = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "login device"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "key"], name="login_device_once")
        ]

    def __str__(self) -> str:
        return f"device of {self.user_id}"


class Invitation(models.Model):
    """An invitation to create an account, by a link that works once. Only the hash of its secret is stored."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    email = models.EmailField(max_length=EMAIL_MAX)
    role = models.CharField(max_length=ROLE_NAME_MAX, validators=[validate_role])
    hash = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "invitation"
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.email

    @property
    def _has_valid_inviter(self) -> bool:
        """True if the inviter still exists and may manage accounts."""
        inviter = self.invited_by
        return inviter is not None and inviter.can_log_in and inviter.has_perm("users.manage")

    @property
    def role_label(self) -> str:
        """The label of the role in the reader's language."""
        return role_label(self.role)

    @property
    def state(self) -> str:
        if self.accepted_at is not None:
            return "accepted"
        # An invitation is only as valid as its inviter: it ends when they lose the account or the right.
        if self.revoked_at is not None or not self._has_valid_inviter:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "pending"
