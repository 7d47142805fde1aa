"""Records changes to login methods made on allauth's pages, from allauth's signals."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import email_changed, password_reset
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_removed
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.signals import social_account_added
from django.http import HttpRequest

from proofroom.accounts.models import User
from proofroom.accounts.services.sign_in import has_second_factor, record_failed_login
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.second_factor import SECOND_FACTOR_KEY


def _record(kind: str, user: User, **payload: str) -> None:
    data: JsonObject = {"id": user.pk, **payload}
    outbox.record(kind, actor=Actor(user=user, via="admin"), payload=data)


def on_password_reset(sender: object, user: User, **kwargs: Any) -> None:
    _record("user.password-reset", user)


def on_email_changed(sender: object, user: User, **kwargs: Any) -> None:
    _record("user.email-changed", user)


def on_factor_added(
    sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    # Stored in the session, so that `lacks_second_factor` needs no query at every request of the admin.
    request.session[SECOND_FACTOR_KEY] = has_second_factor(user)
    _record("user.second-factor-added", user, type=authenticator.type)


def on_factor_removed(
    sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    request.session[SECOND_FACTOR_KEY] = has_second_factor(user)
    _record("user.second-factor-removed", user, type=authenticator.type)


def on_provider_connected(
    sender: object, request: HttpRequest, sociallogin: SocialLogin, **kwargs: Any
) -> None:
    _record("user.second-factor-added", sociallogin.user, type=sociallogin.account.provider)


def on_code_refused(sender: object, user: User, **kwargs: Any) -> None:
    record_failed_login(user.email, via="admin")


def connect_signals() -> None:
    """Connect the handlers to allauth's signals."""
    password_reset.connect(on_password_reset)
    email_changed.connect(on_email_changed)
    authenticator_added.connect(on_factor_added)
    authenticator_removed.connect(on_factor_removed)
    authentication_failed.connect(on_code_refused)
    social_account_added.connect(on_provider_connected)
