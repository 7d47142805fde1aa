"""Personal data of accounts: profile, sessions, ways to log in, tokens and invitations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from proofroom.accounts.models import Preferences, User, role_label
from proofroom.accounts.queries import find_user
from proofroom.accounts.services.erasure import erase_account
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention


class SessionKind(PersonalDataKind):
    """Sessions of the account with address and browser."""

    name = "accounts.sessions"
    label = gettext_lazy("Sessions")
    models = ("usersessions.UserSession", "sessions.Session")
    erasure = Erasure.DELETED
    order = 10

    def count(self, person: Person) -> int:
        return UserSession.objects.filter(user_id=person.user_id).count() if person.user_id else 0

    def records(self, person: Person) -> Iterator[JsonObject]:
        if person.user_id is None:
            return
        for row in UserSession.objects.filter(user_id=person.user_id).order_by("pk"):
            yield {
                "record": str(self.label),
                "id": str(row.pk),
                "created": row.created_at.isoformat(),
                "last seen": row.last_seen_at.isoformat(),
                "IP address": str(row.ip),
                "browser": row.user_agent,
            }

    def erase(self, person: Person, actor: Actor) -> int:
        if person.user_id is None:
            return 0
        rows = list(UserSession.objects.filter(user_id=person.user_id))
        for row in rows:
            row.end()
        return len(rows)


class UnconfirmedAddresses(PersonalDataKind):
    """The address where another account entered it as its own and did not confirm it."""

    name = "accounts.unconfirmed"
    label = gettext_lazy("Unconfirmed changes to this address")
    models = ()
    erasure = Erasure.DELETED

    def count(self, person: Person) -> int:
        return self._rows(person).count()

    def records(self, person: Person) -> Iterator[JsonObject]:
        # Without the account, which is another person's.
        for row in self._rows(person).order_by("pk"):
            yield {"record": str(self.label), "id": str(row.pk), "email": row.email}

    def erase(self, person: Person, actor: Actor) -> int:
        count = self._rows(person).count()
        # Confirmations go with their address.
        self._rows(person).delete()
        return count

    def _rows(self, person: Person) -> QuerySet[EmailAddress]:
        rows: QuerySet[EmailAddress] = EmailAddress.objects.filter(
            email__iexact=person.email, verified=False
        )
        return rows.exclude(user_id=person.user_id) if person.user_id is not None else rows


class AccountKind(PersonalDataKind):
    """The account itself."""

    name = "accounts.account"
    label = gettext_lazy("Account")
    models = (
        "proofroom_accounts.User",
        "proofroom_accounts.Preferences",
        "account.EmailAddress",
        "account.EmailConfirmation",
    )
    erasure = Erasure.PSEUDONYMISED
    reason = gettext_lazy(
        "The account stays without address, name and password, because content and log refer to it. "
        "It can never be used again."
    )
    # The other kinds find the person by the account.
    order = 100

    def count(self, person: Person) -> int:
        if person.user_id is None:
            return 0
        return User.objects.filter(pk=person.user_id, erased_at=None).count()

    def records(self, person: Person) -> Iterator[JsonObject]:
        if person.user_id is None:
            return
        user = User.objects.get(pk=person.user_id)
        emails = EmailAddress.objects.filter(user_id=user.pk).values_list("email", flat=True)
        confirmations = EmailConfirmation.objects.filter(email_address__user_id=user.pk)
        preferences = Preferences.objects.filter(user_id=user.pk).first()
        yield {
            "record": str(self.label),
            "id": str(user.pk),
            "username": user.username,
            "email addresses": sorted({user.email, *emails}),
            "role": role_label(user.role),
            "active": user.is_active,
            "created": user.created_at.isoformat(),
            "last login": user.last_login.isoformat() if user.last_login else None,
            "confirmations sent": [row.created.isoformat() for row in confirmations],
            "time zone": preferences.time_zone if preferences else "",
            "language": preferences.language if preferences else "",
            "theme": preferences.theme if preferences else "",
            "density": preferences.density if preferences else "",
            "named on pages": bool(preferences and preferences.is_named_publicly),
            "name for readers": preferences.public_name if preferences else "",
        }

    def erase(self, person: Person, actor: Actor) -> int:
        return int(erase_account(person=person, actor=actor))


def _address_of(user_id: str, actor: Actor) -> str:
    if not actor.can("users.manage"):
        return ""
    try:
        user = find_user(user_id)
    except NotFound:
        return ""
    return "" if user.erased_at is not None else user.email


ADDRESSES: Final = (("account", _address_of),)
_AT: Final = ("created_at", "last_used_at")
KINDS: Final = (
    SessionKind(),
    TableKind(
        "accounts.sign-in",
        gettext_lazy("Two-factor authentication, login provider and known devices"),
        Table("mfa.Authenticator", ("type", *_AT), owners=("user",)),
        Table("socialaccount.SocialToken", ("expires_at",), owners=("account__user",)),
        Table(
            "socialaccount.SocialAccount",
            ("provider", "uid", "extra_data", "date_joined", "last_login"),
            owners=("user",),
        ),
        Table("proofroom_accounts.LoginDevice", ("created_at",), owners=("user",)),
        erasure=Erasure.DELETED,
        order=10,
    ),
    TableKind(
        "accounts.tokens",
        gettext_lazy("API tokens"),
        Table("proofroom_accounts.ApiToken", ("name", *_AT, "expires_at"), owners=("user",)),
        erasure=Erasure.DELETED,
        order=10,
    ),
    TableKind(
        "accounts.invitations",
        gettext_lazy("Invitations to this address"),
        Table(
            "proofroom_accounts.Invitation",
            ("email", "role", "created_at", "expires_at", "accepted_at"),
            emails=("email",),
        ),
        erasure=Erasure.DELETED,
    ),
    TableKind(
        "accounts.made",
        gettext_lazy("Invitations and tokens that this person made for others"),
        Table("proofroom_accounts.Invitation", ("created_at",), owners=("invited_by",)),
        Table("proofroom_accounts.ApiToken", ("name", "created_at"), owners=("made_by",)),
        Table("proofroom_accounts.DeliveryToken", ("name", "created_at"), owners=("made_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("They belong to others and refer to the account without its name."),
    ),
    TableKind(
        "accounts.django-log",
        gettext_lazy("Log of Django’s admin"),
        Table("admin.LogEntry", ("action_time", "object_repr"), owners=("user",)),
        erasure=Erasure.DELETED,
    ),
    UnconfirmedAddresses(),
    AccountKind(),
)
WITHOUT_PERSONAL_DATA: Final = (
    "auth.Group",
    "auth.Group_permissions",
    "auth.Permission",
    "contenttypes.ContentType",
    "proofroom_accounts.SiteRole",
    "socialaccount.SocialApp",
)
RETENTIONS: Final = (
    Retention(
        "sessions",
        gettext_lazy("Sessions of the admin with IP address and browser"),
        fixed_days=settings.SESSION_COOKIE_AGE // 86_400,
        task_name="accounts.tasks.purge_sign_ins",
    ),
    Retention(
        "invitations",
        gettext_lazy("Invitations that were accepted, revoked or expired"),
        setting="INVITATION_DAYS",
        task_name="accounts.tasks.purge_sign_ins",
    ),
)
