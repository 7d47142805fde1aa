"""Checks and records of a login, for the admin and the API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from typing import Final

from allauth.account.models import EmailAddress
from allauth.core.context import request_context
from allauth.mfa.base.internal.flows import check_rate_limit
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from proofroom.accounts.models import LoginDevice, User
from proofroom.core import outbox
from proofroom.core.actor import Actor, Via, Visitor
from proofroom.core.caching.rate_limits import client_address
from proofroom.core.errors import NotAuthenticated
from proofroom.core.second_factor import SECOND_FACTOR_KEY

_FACTORS: Final = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def has_second_factor(user: User, *, besides: int | None = None) -> bool:
    """Return True if the account has a second factor other than `besides`."""
    found = Authenticator.objects.filter(user_id=user.pk, type__in=_FACTORS)
    return bool(found.exclude(pk=besides).exists())


def check_login(user: User, code: str | None) -> None:
    """Refuse a login with the right password if the email is unconfirmed, or the code is missing or wrong.

    Raises `NotAuthenticated`.
    """
    confirmed = EmailAddress.objects.filter(user_id=user.pk, email=user.email, verified=True)
    if not confirmed.exists():
        raise NotAuthenticated("Confirm your email first.", code="email_not_confirmed")
    if not has_second_factor(user):
        return
    if not code:
        raise NotAuthenticated(
            "Send the code of your authenticator app, or a recovery code, as code.",
            code="second_factor_required",
        )
    try:
        # allauth's limit on codes, which its login pages use too. A valid code resets it.
        forget_tries = check_rate_limit(user)
    except ValidationError:
        raise NotAuthenticated(
            "Too many wrong codes. Try again in a few minutes.", code="second_factor_required"
        ) from None
    # Passkeys need a browser's challenge; the API accepts only codes.
    for factor in Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.WEBAUTHN):
        if factor.wrap().validate_code(code):
            factor.record_usage()
            forget_tries()
            return
    record_failed_login(user.email, via="api")
    raise NotAuthenticated("The code is wrong or was already used.", code="second_factor_required")


@transaction.atomic
def finish_sign_in(
    request: HttpRequest, user: User, *, via: Via, methods: Collection[str] = ("password",)
) -> None:
    """Record a successful login: in the activity log, the account's sessions and its devices."""
    request.session[SECOND_FACTOR_KEY] = has_second_factor(user)
    UserSession.objects.create_from_request(request, user=user)
    outbox.record(
        "user.logged-in",
        actor=Actor(user=user, via=via),
        payload={"id": user.pk, "methods": [*methods]},
    )
    _notice_device(request, user)


def record_failed_login(email: str, *, via: Via) -> None:
    """Record a failed login."""
    # An address that no account has is not stored: users sometimes type their password there.
    user = User.objects.filter(email=email.strip().lower()).only("pk").first()
    outbox.record(
        "user.login-failed",
        actor=Actor(user=Visitor(), via=via),
        payload={"id": user.pk if user is not None else None},
    )


def device_key(request: HttpRequest) -> str:
    """Return the key of a device: hash of its browser and system without versions, and its network."""
    # Versions change with each update, and the last part of an address with each connection.
    agent = re.sub(r"[\d._]+", "", request.META.get("HTTP_USER_AGENT", ""))[:300]
    address = client_address(request)
    parts = address.split(":")[:3] if ":" in address else address.split(".")[:3]
    return hashlib.sha256(f"{agent}|{'.'.join(parts)}".encode()).hexdigest()


def _notice_device(request: HttpRequest, user: User) -> None:
    """Notify the user by mail if the account is used from a new device."""
    from allauth.account.adapter import get_adapter

    def write() -> None:
        with request_context(request):
            get_adapter(request).send_notification_mail("account/email/new_device", user)

    _device, is_new = LoginDevice.objects.get_or_create(user=user, key=device_key(request))
    # The first device of an account is new, too, but needs no warning.
    if is_new and LoginDevice.objects.filter(user=user).count() > 1:
        # A mail cannot be taken back if the transaction fails.
        transaction.on_commit(write)
